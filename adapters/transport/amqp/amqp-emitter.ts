// Publishes the site's lens emissions to an external exchange: at least once each, identified by message id.
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { BrokerEndpoint } from '../../../daemon/kernel/network/broker.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { traceHeaders } from '../../../daemon/kernel/telemetry/trace.ts'
import { readSecretFile, SecretFileError } from '../../platform/secret-file/read-secret-file.ts'
import { type BrokerConnection, brokerConnection } from './broker-connection.ts'
import { describeBrokerError } from './broker-error.ts'
import { type BrokerPublisher, brokerPublisher, type PublishOutcome } from './publisher.ts'

const publish_timeout_ms = 10_000
/** A connection is kept for messages that follow at once, and then closes by itself. */
const idle_connection_ms = 2_000

export type AmqpEmissionTarget = BrokerEndpoint & {
  readonly password_file?: string | undefined
  readonly exchange: string
  readonly routing_key: string
}

export type AmqpEmitter = {
  /** Resolves when the broker has confirmed it; anything else is `Refusal('unavailable')`, to be tried again. */
  publish(
    to: AmqpEmissionTarget,
    message: { readonly id: string; readonly body: unknown },
    by: Pick<Call, 'trace' | 'signal'>,
  ): Promise<void>
}

type EmitterConnection = {
  readonly connection: BrokerConnection
  readonly publisher: BrokerPublisher
  users: number
  timer?: NodeJS.Timeout
}

/** `name`: shown in the broker's list of connections. */
export function amqpEmitter(name: string): AmqpEmitter {
  const all = new Map<string, EmitterConnection>()
  /** Over one connection per exchange, so that a refusal ends no other one; it ends when it has been idle for a while. */
  const using = async <T>(target: AmqpEmissionTarget, use: (publisher: BrokerPublisher) => Promise<T>) => {
    const { url, user, tls, password_file, exchange } = target
    const key = JSON.stringify([url, user, tls, password_file, exchange])
    const kept = all.get(key) ?? openEmitterConnection(target, name)
    all.set(key, kept)
    clearTimeout(kept.timer)
    kept.users += 1
    try {
      return await use(kept.publisher)
    } finally {
      kept.users -= 1
      if (kept.users === 0) kept.timer = setTimeout(() => void kept.connection.close(), idle_connection_ms)
    }
  }
  return {
    async publish(target, { id, body }, { trace, signal }) {
      const { exchange, routing_key: key, user } = target
      const properties = {
        ...{ messageId: id, contentType: 'application/json', type: 'consensus.lens_emission/1' },
        ...(user === undefined ? {} : { userId: user }),
        headers: traceHeaders(trace),
      }
      const draft = { exchange, key, properties, content: Buffer.from(JSON.stringify(body)) }
      const limit = AbortSignal.any([signal, AbortSignal.timeout(publish_timeout_ms)])
      const [outcome] = await using(target, (publisher) => publisher.publish([draft], limit)).catch((error) => {
        throw new Refusal('unavailable', `publishing to the broker failed: ${describeBrokerError(error)}`)
      })
      if (outcome !== 'confirmed') throw new Refusal('unavailable', describeOutcome(outcome, target))
    },
  }
}

function describeOutcome(outcome: PublishOutcome | undefined, { exchange, routing_key }: AmqpEmissionTarget): string {
  if (outcome === 'unroutable') return `no queue is bound to the exchange ${exchange} for ${routing_key}`
  return 'the broker refused the message: a queue is full'
}

function openEmitterConnection({ url, user, tls, password_file }: AmqpEmissionTarget, name: string): EmitterConnection {
  const password = () => (password_file === undefined ? undefined : readPassword(password_file))
  const made = brokerConnection({ url, user, tls }, password, name)
  return { connection: made, publisher: brokerPublisher(made), users: 0 }
}

function readPassword(file: string): string {
  try {
    return readSecretFile(file).trim()
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error
    throw new Error(`the password file of the broker ${error.reason}`)
  }
}
