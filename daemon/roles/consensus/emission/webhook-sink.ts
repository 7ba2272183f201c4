// The webhook client that the role needs; the runtime supplies it.
import type { WebhookEndpoint } from '../../../kernel/network/webhook.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { part } from '../../../kernel/role/part.ts'

export type WebhookSinkClient = {
  /**
   * POSTs JSON, signed with HMAC-SHA256 by the secret in the file, in the trace of the call that sends it, and no longer
   * than that lasts; throws `Refused` (retryable) unless answered 2xx.
   */
  post(to: WebhookEndpoint, body: Readonly<Record<string, unknown>>, by: Pick<Call, 'trace' | 'signal'>): Promise<void>
}
export const webhookSinkClient = part<WebhookSinkClient>('webhooks')
