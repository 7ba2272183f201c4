// Asks the identity provider as the data plane asks its upstream: strictly parsed, and only at addresses that are allowed.
import type { AddressRule } from '../../../adapters/forward/http/address-rule.ts'
import type { Clock } from '../../../adapters/forward/http/clock.ts'
import { originOf } from '../../../adapters/forward/http/dial.ts'
import { defaultUpstreamLimits } from '../../../adapters/forward/http/limits.ts'
import { upstream } from '../../../adapters/forward/http/upstream.ts'
import type { PostForm } from '../../../adapters/identity/client-credentials/token-source.ts'

const max_response_bytes = 262_144
const timeout_ms = 10_000

/** Connections end with their answers: between two tokens nobody keeps one. */
const limits = {
  ...defaultUpstreamLimits,
  connections: 2,
  first_byte_ms: timeout_ms,
  idle_ms: timeout_ms,
  keep_ms: 0,
}

/** `ca`: PEM of the authorities that count, those of the machine when absent. */
export function tokenEndpointClient(
  token_url: string,
  ca: string | undefined,
  rule: AddressRule,
  clock: Clock,
): PostForm {
  const url = new URL(token_url)
  const origin = originOf(url, ca)
  if (!origin) throw new Error('the token endpoint is neither http nor https')
  const client = upstream({ origin, rule, limits, clock })
  return ({ authorization, form }) =>
    new Promise((resolve, reject) => {
      const pieces: Buffer[] = []
      let status = 0
      let size = 0
      const flight = client.forward(
        {
          method: 'POST',
          path: url.pathname + url.search,
          headers: [
            ...['host', url.host, 'accept', 'application/json', 'authorization', authorization],
            ...['content-type', 'application/x-www-form-urlencoded'],
          ],
          body: Buffer.from(form),
        },
        {
          head: (found) => {
            status = found
          },
          data(bytes) {
            size += bytes.length
            if (size > max_response_bytes) give('the answer is too large')
            else pieces.push(Buffer.from(bytes))
            return true
          },
          flush() {},
          end() {
            clearTimeout(late)
            resolve({ status, text: Buffer.concat(pieces).toString('utf8') })
          },
          fail: (failure, detail) => give(`${failure}: ${detail}`),
        },
      )
      const give = (why: string) => {
        clearTimeout(late)
        flight.abort()
        reject(new Error(why))
      }
      // For the whole exchange: an answer that drips must not hold up whoever waits for it.
      const late = setTimeout(() => give('no answer in time'), timeout_ms)
    })
}
