// The conversation with a scene that is simulated while one watches.
import type { LiveCommand, LiveFrame } from "../messages";

export class LiveLine {
  private readonly socket: WebSocket;

  constructor(take: (frame: LiveFrame) => void, ended: (why: string) => void, opened: () => void) {
    const address = new URL("api/live", document.baseURI);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.hash = "";
    address.search = "";
    this.socket = new WebSocket(address);
    this.socket.onopen = opened;
    this.socket.onmessage = (event: MessageEvent<string>) =>
      take(JSON.parse(event.data) as LiveFrame);
    this.socket.onclose = (event) =>
      ended(event.reason || "The connection to the simulation ended.");
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  say(command: LiveCommand): void {
    if (this.isOpen) this.socket.send(JSON.stringify(command));
  }

  close(): void {
    this.socket.onclose = null;
    this.socket.close();
  }
}
