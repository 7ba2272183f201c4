// What the role needs of a webhook client: boot supplies one.
import { type Call, part } from '../../../kernel/operation/call.ts'

export type WebhookSink = { readonly url: string; readonly secret_file: string }

export type WebhookSinkClient = {
  /**
   * POSTs JSON, signed with HMAC-SHA256 by the secret in the file, in the trace of the call that sends it, and no longer
   * than that lasts; throws `Refusal` (retryable) unless answered 2xx.
   */
  post(to: WebhookSink, body: Readonly<Record<string, unknown>>, by: Pick<Call, 'trace' | 'signal'>): Promise<void>
}
export const webhookSinkClient = part<WebhookSinkClient>('webhooks')
