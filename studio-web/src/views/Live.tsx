export function Live(_: { scene: string | null }) { return <main class="center" />; }
