// What the role needs of a client of message brokers: boot supplies one.
import type { Broker } from '../../kernel/broker.ts'
import { type Call, part } from '../../kernel/call.ts'

/** An exchange of somebody's broker. `password_file`: of the user, read at each connection. */
export type BrokerSink = Broker & {
  readonly password_file?: string | undefined
  readonly exchange: string
  readonly routing_key: string
}

export type Brokers = {
  /**
   * Publishes JSON, persistent, under this message id, in the trace of the call that sends it; resolves once the broker has
   * confirmed that a queue has it, and throws `Refused` (retryable) when it has not, within the call.
   */
  publish(
    to: BrokerSink,
    message: { readonly id: string; readonly body: Readonly<Record<string, unknown>> },
    by: Pick<Call, 'trace' | 'signal'>,
  ): Promise<void>
}
export const brokers = part<Brokers>('brokers')
