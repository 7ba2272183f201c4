// Posts events of lineage to a collector, one after the other, as OpenLineage has it.
import { readFileSync } from 'node:fs'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { traceHeaders } from '../../../daemon/kernel/telemetry/trace.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import type { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import { readSecretFile, SecretFileError } from '../../platform/secret-file/read-secret-file.ts'

/** From the first byte sent to the status, of each event. */
const timeout_ms = 10_000

export type LineageCollectorOptions = {
  readonly url: string
  readonly key_file?: string | undefined
  readonly ca_file?: string | undefined
}

export type LineageCollector = {
  /** Resolves once each was accepted (2xx). Throws `Refusal('unavailable')` for the first that was not. */
  post(events: readonly unknown[], call: Pick<Call, 'signal' | 'trace'>): Promise<void>
}

/** The operator names the URL, in the profile. Throws where the file of the authorities cannot be read. */
export function openLineageCollector({ url, key_file, ca_file }: LineageCollectorOptions): LineageCollector {
  const ca = ca_file === undefined ? undefined : readFileSync(ca_file, 'utf8')
  const client = new HttpClient({ rule: anyAddress, max_connections: 1, ca })
  return {
    async post(events, { signal, trace }) {
      const headers = {
        'content-type': 'application/json',
        ...(key_file === undefined ? {} : { authorization: `Bearer ${readKey(key_file)}` }),
        ...traceHeaders(trace),
      }
      for (const event of events) await postEvent(client, url, { headers, signal, body: JSON.stringify(event) })
    },
  }
}

async function postEvent(
  client: HttpClient,
  url: string,
  request: { readonly headers: Record<string, string>; readonly signal: AbortSignal; readonly body: string },
): Promise<void> {
  const status = await sendForStatus(client, url, request)
  if (status < 200 || status > 299) throw new Refusal('unavailable', `the collector of lineage answered ${status}`)
}

async function sendForStatus(client: HttpClient, url: string, request: Parameters<typeof postEvent>[2]) {
  try {
    const response = await client.send(url, { method: 'POST', ...request, limits: { total_ms: timeout_ms } })
    response.drain()
    return response.status
  } catch (error) {
    throw new Refusal(
      'unavailable',
      `the collector of lineage cannot be reached: ${(error as HttpClientError).message}`,
    )
  }
}

function readKey(file: string): string {
  try {
    const key = readSecretFile(file).trim()
    if (key !== '') return key
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error
    throw new Refusal('unavailable', `the key of the collector of lineage ${error.reason}`)
  }
  throw new Refusal('unavailable', 'the key of the collector of lineage is empty')
}
