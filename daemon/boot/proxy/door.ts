// Where the requests of strangers come to: each is a visit, but for what is asked of the service itself.
import type { Exchange } from '../../../adapters/forward/http/exchange.ts'
import type { Config } from '../../roles/proxy/config.ts'
import type { Pod } from './messages.ts'
import { Visit, type VisitParts } from './visit.ts'

type DoorParts = VisitParts & {
  /** What is asked for beside the public prefix, and answered by the main thread. */
  readonly tell: (about: Pod) => Promise<{ readonly status: number; readonly body: string }>
}

/** Exact targets: they are for whoever reaches the listener itself, and no path under the prefix leads to them. */
const pods: ReadonlyMap<string, Pod> = new Map([
  ['/health', 'health'],
  ['/service-info', 'info'],
])

export class Door {
  readonly #parts: DoorParts
  /** May be replaced at any time: each request goes by the one that it began with. */
  config: Config

  constructor(parts: DoorParts, config: Config) {
    this.#parts = parts
    this.config = config
  }

  handle(exchange: Exchange): void {
    const about = exchange.method === 'GET' && !exchange.fault ? pods.get(exchange.target) : undefined
    if (about) void this.#tell(exchange, about)
    else new Visit(exchange, this.config, this.#parts).serve()
  }

  async #tell(exchange: Exchange, about: Pod): Promise<void> {
    const { status, body } = await this.#parts.tell(about)
    exchange.reply(status, ['Content-Type', 'application/json'], Buffer.from(body))
  }
}
