// Downloads one file over HTTP to the disk, bounded in size and time. A redirect is followed within its source alone.
import { closeSync, openSync } from 'node:fs'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { writeFully } from '../../platform/durable-file/write-durably.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import type { HttpResponse } from '../../platform/http-client/http-response.ts'

export type DownloadAccess = {
  /** The beginning of every URL of the source, which requests and redirects do not leave. */
  readonly base: URL
  /** The Authorization header. */
  readonly authorization?: string | undefined
  /** Authorities in PEM instead of the machine's. */
  readonly ca?: string | undefined
  readonly rule: AddressRule
  readonly max_bytes: number
  /** From the first request to the last byte. */
  readonly timeout_ms: number
}

export type DownloadedFile = {
  readonly bytes: number
  /** The media type as the server states it, without parameters, in lower case. */
  readonly media_type: string | undefined
}

const max_redirects = 5
const idle_ms = 60_000
const redirects: readonly number[] = [301, 302, 303, 307, 308]

/** `to`: a new file. Throws `RowSourceError` without an address, and the reason of the signal. */
export async function downloadFile(
  url: URL,
  access: DownloadAccess,
  to: string,
  signal: AbortSignal,
): Promise<DownloadedFile> {
  const client = new HttpClient({ rule: access.rule, ca: access.ca, connect_timeout_ms: 10_000 })
  const time = AbortSignal.any([signal, AbortSignal.timeout(access.timeout_ms)])
  try {
    const response = await requestFile(client, url, access, time)
    const bytes = await writeBody(response, access.max_bytes, to)
    return { bytes, media_type: response.header('content-type')?.split(';')[0]?.trim().toLowerCase() }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof HttpClientError ? describeFailure(error, access) : error
  } finally {
    client.close()
  }
}

async function requestFile(
  client: HttpClient,
  url: URL,
  { base, authorization }: DownloadAccess,
  signal: AbortSignal,
): Promise<HttpResponse> {
  // A body that is compressed on the way would have another size and digest than the file.
  const headers = { 'accept-encoding': 'identity', ...(authorization === undefined ? {} : { authorization }) }
  for (let [place, count] = [url, 0]; ; count++) {
    const limits = { head_ms: idle_ms, idle_ms }
    const response = await client.send(place, { method: 'GET', headers, signal, limits })
    if (!redirects.includes(response.status)) return requireFile(response)
    const target = response.header('location') ?? ''
    response.destroy()
    if (count === max_redirects) throw new RowSourceError(`the server redirects more than ${max_redirects} times`)
    const next = URL.parse(target, place.href)
    if (!next || !isWithinSource(next, base))
      throw new RowSourceError('the server redirects to a place outside the source: name that place in the profile')
    place = next
  }
}

/** Whether the URL has the origin of the base, no user, and a path at or below its path. */
export function isWithinSource(url: URL, base: URL): boolean {
  if (url.origin !== base.origin || url.username !== '' || url.password !== '') return false
  const folder = base.pathname.replace(/\/$/, '')
  // Some servers read these as parts of a path; no file needs them.
  if (/%(2e|2f|5c|00)/i.test(url.pathname)) return false
  return url.pathname === folder || url.pathname === base.pathname || url.pathname.startsWith(`${folder}/`)
}

function requireFile(response: HttpResponse): HttpResponse {
  const { status } = response
  const coding = response.header('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (status === 200 && coding === 'identity') return response
  response.destroy()
  if (status === 200) throw new RowSourceError('the server sends the file compressed, although it was asked not to')
  if (status === 401 || status === 403) throw new RowSourceError(`the server refuses the request (${status})`)
  if (status === 404 || status === 410) throw new RowSourceError('the server has no such file')
  const isPassing = status >= 500 || status === 429 || status === 408
  throw new RowSourceError(`the server answered ${status}`, !isPassing)
}

async function writeBody(response: HttpResponse, max_bytes: number, to: string): Promise<number> {
  const stated = Number(response.header('content-length') ?? 0)
  if (stated > max_bytes) throw describeSize(max_bytes)
  const file = openSync(to, 'wx', 0o600)
  let bytes = 0
  try {
    for await (const chunk of response.chunks()) {
      bytes += chunk.length
      if (bytes > max_bytes) throw describeSize(max_bytes)
      writeFully(file, chunk)
    }
  } finally {
    closeSync(file)
    response.destroy()
  }
  return bytes
}

function describeSize(max_bytes: number): RowSourceError {
  return new RowSourceError(`the file has more than ${max_bytes} bytes, the most that its source may send`)
}

/** Whether a name leads inside stays unknown to strangers: the address is left out. */
function describeFailure({ failure, code }: HttpClientError, { timeout_ms }: DownloadAccess): RowSourceError {
  if (failure === 'address') return new RowSourceError('the profile does not permit the address of the server')
  if (failure === 'aborted') return new RowSourceError(`the file did not arrive within ${timeout_ms / 1_000} s`, false)
  if (failure === 'broken_off') return new RowSourceError('the answer of the server broke off', false)
  return new RowSourceError(`the server did not answer (${code ?? failure})`, false)
}
