export function Make() { return <main class="center" />; }
