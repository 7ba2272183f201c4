// Publishes what a site emits to somebody's exchange: each message once at least, and known by its id.
import { readFileSync } from 'node:fs'
import type { Broker } from '../../../daemon/kernel/broker.ts'
import type { Call } from '../../../daemon/kernel/call.ts'
import { Refused } from '../../../daemon/kernel/errors.ts'
import { traceHeaders } from '../../../daemon/kernel/trace.ts'
import { type Link, link } from './link.ts'
import { type Outcome, type Publisher, publisher } from './publisher.ts'
import { troubleOf } from './trouble.ts'

const patience_ms = 10_000
/** A connection is kept for what follows at once, and no longer: nobody has to end it. */
const kept_ms = 2_000

export type Target = Broker & {
  readonly password_file?: string | undefined
  readonly exchange: string
  readonly routing_key: string
}

export type Emitter = {
  /** Resolves when the broker has confirmed it; anything else is `Refused('unavailable')`, to be tried again. */
  publish(
    to: Target,
    message: { readonly id: string; readonly body: unknown },
    by: Pick<Call, 'trace' | 'signal'>,
  ): Promise<void>
}

type Kept = { readonly link: Link; readonly publisher: Publisher; users: number; timer?: NodeJS.Timeout }

/** `name`: shown in the broker's list of connections. */
export function amqpEmitter(name: string): Emitter {
  const all = new Map<string, Kept>()
  /** Over a connection for the exchange, so that one that is refused ends no other; it ends when nobody has used it for a while. */
  const using = async <T>(target: Target, use: (line: Publisher) => Promise<T>) => {
    const { url, user, tls, password_file, exchange } = target
    const key = JSON.stringify([url, user, tls, password_file, exchange])
    const kept = all.get(key) ?? opened(target, name)
    all.set(key, kept)
    clearTimeout(kept.timer)
    kept.users += 1
    try {
      return await use(kept.publisher)
    } finally {
      kept.users -= 1
      if (kept.users === 0) kept.timer = setTimeout(() => void kept.link.close(), kept_ms)
    }
  }
  return {
    async publish(target, { id, body }, { trace, signal }) {
      const { exchange, routing_key: key, user } = target
      const about = {
        ...{ messageId: id, contentType: 'application/json', type: 'consensus.lens_emission/1' },
        ...(user === undefined ? {} : { userId: user }),
        headers: traceHeaders(trace),
      }
      const draft = { exchange, key, about, content: Buffer.from(JSON.stringify(body)) }
      const limit = AbortSignal.any([signal, AbortSignal.timeout(patience_ms)])
      const [outcome] = await using(target, (line) => line.publish([draft], limit)).catch((error) => {
        throw new Refused('unavailable', `the broker cannot be told: ${troubleOf(error)}`)
      })
      if (outcome !== 'confirmed') throw new Refused('unavailable', wordsOf(outcome, target))
    },
  }
}

function wordsOf(outcome: Outcome | undefined, { exchange, routing_key }: Target): string {
  if (outcome === 'unroutable') return `no queue is bound to the exchange ${exchange} for ${routing_key}`
  return 'the broker takes no more: a queue is full'
}

function opened({ url, user, tls, password_file }: Target, name: string): Kept {
  const password = () => (password_file === undefined ? undefined : passwordIn(password_file))
  const made = link({ url, user, tls }, password, name)
  return { link: made, publisher: publisher(made), users: 0 }
}

function passwordIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    throw new Error('the file of the password cannot be read')
  }
}
