// The message broker client that the role needs; the runtime supplies it.
import type { BrokerEndpoint } from '../../../kernel/network/broker.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { part } from '../../../kernel/role/part.ts'

/** An exchange of an external broker. `password_file`: the user's password, read at each connection. */
export type BrokerSink = BrokerEndpoint & {
  readonly password_file?: string | undefined
  readonly exchange: string
  readonly routing_key: string
}

export type BrokerSinkClient = {
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
export const brokerSinkClient = part<BrokerSinkClient>('brokers')
