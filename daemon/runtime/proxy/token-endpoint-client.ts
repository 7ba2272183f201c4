// Posts to the token endpoint with the client of the upstream: strictly parsed, and only to allowed addresses.
import type { CoarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { parseUpstreamOrigin } from '../../../adapters/forward/http/dial.ts'
import { defaultUpstreamLimits } from '../../../adapters/forward/http/limits.ts'
import { upstream } from '../../../adapters/forward/http/upstream.ts'
import type { FormPoster } from '../../../adapters/identity/client-credentials/token-source.ts'
import type { AddressRule } from '../../../adapters/platform/address-rule/address-rule.ts'

const max_response_bytes = 262_144
const timeout_ms = 10_000

/** Connections end with their response, since tokens are requested rarely. */
const limits = {
  ...defaultUpstreamLimits,
  connections: 2,
  first_byte_ms: timeout_ms,
  idle_ms: timeout_ms,
  keep_ms: 0,
}

/** `ca`: PEM of the trusted authorities (default: those of the machine). */
export function tokenEndpointClient(
  token_url: string,
  ca: string | undefined,
  rule: AddressRule,
  clock: CoarseClock,
): FormPoster {
  const url = new URL(token_url)
  const origin = parseUpstreamOrigin(url, ca)
  if (!origin) throw new Error('the token endpoint must be an http or https URL')
  const client = upstream({ origin, rule, limits, clock })
  return ({ authorization, form }) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let status = 0
      let size = 0
      const activeRequest = client.forward(
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
          head: (statusCode) => {
            status = statusCode
          },
          data(bytes) {
            size += bytes.length
            if (size > max_response_bytes) fail('the response is too large')
            else chunks.push(Buffer.from(bytes))
            return true
          },
          flush() {},
          end() {
            clearTimeout(timer)
            resolve({ status, text: Buffer.concat(chunks).toString('utf8') })
          },
          fail: (failure, detail) => fail(`${failure}: ${detail}`),
        },
      )
      const fail = (message: string) => {
        clearTimeout(timer)
        activeRequest.abort()
        reject(new Error(message))
      }
      // For the whole exchange: a response that arrives byte by byte must not delay the requests that wait for the token.
      const timer = setTimeout(() => fail(`no response within ${timeout_ms} ms`), timeout_ms)
    })
}
