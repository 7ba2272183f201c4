// What the role needs of a webhook client: boot supplies one.
import { part } from '../../kernel/call.ts'

export type Webhooks = {
  /** POSTs JSON, signed with HMAC-SHA256 by the secret in the file; throws `Refused` (retryable) unless answered 2xx. */
  post(url: string, secret_file: string, body: Readonly<Record<string, unknown>>): Promise<void>
}
export const webhooks = part<Webhooks>('webhooks')
