// Sends batches to the peers' listeners, and accepts only valid responses. On node:https: the site's HTTP client cannot
// wait for `100 Continue`.
import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { PeerCertificate } from 'node:tls'
import { type CarriedMessage, type CarryOutcome, PeerBusyError } from '../../../daemon/kernel/messaging/carrier.ts'
import type { MtlsMaterial } from './material.ts'
import {
  content_type,
  decodeLandings,
  encodeBatch,
  max_batch_bytes,
  max_response_bytes,
  parcels_path,
  splitIntoRequests,
} from './parcel-batch.ts'
import { identifyPeer } from './pins.ts'
import { secureContextOptions } from './tls-context.ts'

export type MtlsClientOptions = {
  /** Peer to where it listens. */
  readonly urls: Readonly<Record<string, string>>
  readonly material: () => MtlsMaterial
  /** Epoch milliseconds. */
  readonly now: () => number
}

type BatchResponse = { readonly status: number; readonly retry_ms: number; readonly bytes: Buffer }

/** How long a peer that says nothing of it is left alone. */
const default_retry_ms = 5_000

export class MtlsClient {
  readonly #options: MtlsClientOptions
  readonly #agents = new Map<string, { readonly agent: Agent; readonly of: MtlsMaterial }>()

  constructor(options: MtlsClientOptions) {
    this.#options = options
  }

  /** See `Carrier.carry`. An empty batch tests whether the peer is reachable. */
  async carry(peer: string, parcels: readonly CarriedMessage[], signal: AbortSignal): Promise<readonly CarryOutcome[]> {
    const landings: CarryOutcome[] = []
    const requests = splitIntoRequests(parcels)
    for (const group of requests.length > 0 ? requests : [[]]) {
      const answer = await this.#post(peer, encodeBatch(group), signal)
      const found = parseLandings(peer, group, answer)
      if (found === 'busy' && landings.length === 0)
        throw new PeerBusyError(`${peer} accepts no messages at present`, answer.retry_ms)
      landings.push(...(found === 'busy' ? [] : found))
      if (found === 'busy' || found.includes('full')) break
    }
    return parcels.map((_, index) => landings[index] ?? 'full')
  }

  close(): void {
    for (const { agent } of this.#agents.values()) agent.destroy()
    this.#agents.clear()
  }

  #post(peer: string, text: string, signal: AbortSignal, isAgain = false): Promise<BatchResponse> {
    const url = new URL(this.#options.urls[peer] ?? '')
    const body = Buffer.from(text)
    // A batch that is too large for the peer is answered before any of it is sent.
    const isLarge = body.length > max_batch_bytes * 2
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest({
        agent: this.#agentFor(peer),
        host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: url.port === '' ? 443 : url.port,
        path: parcels_path,
        method: 'POST',
        headers: {
          'content-type': content_type,
          'content-length': body.length,
          ...(isLarge ? { expect: '100-continue' } : {}),
        },
        maxHeaderSize: 8_192,
        signal,
      })
      outgoing.once('response', (response) => readResponse(peer, response).then(resolve, reject))
      // An error after the answer is ignored: a peer that refuses a body need not read it.
      outgoing.on('error', (error) => {
        // A kept connection may have been closed at the other end meanwhile.
        if (outgoing.reusedSocket && !isAgain && !signal.aborted) resolve(this.#post(peer, text, signal, true))
        else reject(new Error(`${peer} cannot be reached: ${error.message}`))
      })
      if (isLarge) outgoing.once('continue', () => outgoing.end(body)).flushHeaders()
      else outgoing.end(body)
    })
  }

  /** Connections are kept, and made anew when certificates or pins are others. Nothing is under way to this peer then. */
  #agentFor(peer: string): Agent {
    const material = this.#options.material()
    const known = this.#agents.get(peer)
    if (known?.of === material) return known.agent
    known?.agent.destroy()
    const agent = new Agent({
      ...secureContextOptions(material, peer),
      keepAlive: true,
      maxSockets: 1,
      maxCachedSessions: 0,
      // The certificate must name the site of the peer, wherever it listens: no host name is trusted.
      checkServerIdentity: (_host: string, { raw }: PeerCertificate) => this.#objection(peer, raw),
    })
    this.#agents.set(peer, { agent, of: material })
    return agent
  }

  #objection(peer: string, raw: Buffer): Error | undefined {
    const { material, now } = this.#options
    const found = identifyPeer(new X509Certificate(raw), 'server', material().pins, now())
    if ('peer' in found && found.peer === peer) return undefined
    return new Error(`its certificate is not that of ${peer} (${'why' in found ? found.why : 'other_site'})`)
  }
}

/** Throws for an answer that cannot be one: then it is not known what became of the parcels. */
function parseLandings(
  peer: string,
  group: readonly CarriedMessage[],
  { status, bytes }: BatchResponse,
): readonly CarryOutcome[] | 'busy' {
  if (status === 503) return 'busy'
  if (status === 413 && group.length === 1) return ['too_large']
  if (status !== 200) throw new Error(`${peer} answered ${status}`)
  const found = decodeLandings(bytes, group.length)
  if (!found) throw new Error(`${peer} sent an answer that cannot be parsed`)
  return found
}

function readResponse(peer: string, response: IncomingMessage): Promise<BatchResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > max_response_bytes) response.destroy(new Error('its answer is too long'))
    })
    response.once('error', (error) =>
      reject(new Error(`${peer} closed the connection during its answer: ${error.message}`)),
    )
    response.once('close', () => reject(new Error(`${peer} closed the connection during its answer`)))
    response.once('end', () => {
      const wait = response.headers['retry-after'] ?? ''
      const retry_ms = /^\d{1,6}$/.test(wait) ? Number(wait) * 1_000 : default_retry_ms
      resolve({ status: response.statusCode ?? 0, retry_ms, bytes: Buffer.concat(chunks) })
    })
  })
}
