// A client of an upstream, a server that sends what a test provides, and a manual clock.
import { expect, vi } from 'vitest'
import { defaultUpstreamLimits, type UpstreamLimits } from '../../../adapters/forward/http/limits.ts'
import { upstream } from '../../../adapters/forward/http/upstream.ts'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import type { AddressResolver } from '../../../adapters/platform/address-rule/checked-lookup.ts'
import type { ResponseSink, Upstream, UpstreamRequest } from '../../../daemon/kernel/forward/upstream.ts'
import { manualCoarseClock } from '../clock/manual-coarse-clock.ts'
import { type RawConnection, type RawUpstream, startRawUpstream } from './raw-upstream.ts'

/** Conditions are polled often, with a long timeout. */
export const pollOptions = { interval: 2, timeout: 60_000 }

const openResources: { close(): unknown }[] = []
export async function closeUpstreamFixtures(): Promise<void> {
  for (const one of openResources.splice(0).reverse()) await one.close()
}

/** The calls of a sink, in order, and all bytes. While `isPaused` it accepts no more. */
export type SinkCalls = { events: string[]; body: string; isPaused: boolean }

/** A sink that records its calls, in order. */
export function createRecordingSink(): ResponseSink & { readonly calls: SinkCalls } {
  const calls: SinkCalls = { events: [], body: '', isPaused: false }
  return {
    calls,
    head: (status, rawHeaders, length) => void calls.events.push(`head ${status} ${rawHeaders.join('|')} ${length}`),
    data(bytes) {
      calls.body += bytes.toString('latin1')
      return !calls.isPaused
    },
    flush: () => undefined,
    end: () => void calls.events.push('end'),
    fail: (failure) => void calls.events.push(`fail ${failure}`),
  }
}

/** Starts a client and its server; `closeUpstreamFixtures` ends both. */
export async function startUpstreamFixture(
  answer: (connection: RawConnection, requests: number) => void,
  more: {
    limits?: Partial<UpstreamLimits>
    host?: string
    resolve?: AddressResolver
    trusted?: readonly string[]
  } = {},
) {
  const server = await startRawUpstream(answer)
  openResources.push(server)
  const clock = manualCoarseClock()
  const client = createClient(server, clock, more)
  const send = (changes: Partial<UpstreamRequest> = {}) => {
    const sink = createRecordingSink()
    const activeRequest = client.forward({ method: 'GET', path: '/a', headers: ['host', 'up'], ...changes }, sink)
    return { activeRequest, calls: sink.calls }
  }
  const waitForEnd = (calls: SinkCalls) =>
    vi.waitFor(() => expect(calls.events.at(-1)).toMatch(/^(end|fail)/), pollOptions)
  return { server, clock, client, send, waitForEnd }
}

function createClient(
  { port }: RawUpstream,
  clock: ReturnType<typeof manualCoarseClock>,
  more: { limits?: Partial<UpstreamLimits>; host?: string; resolve?: AddressResolver; trusted?: readonly string[] },
): Upstream {
  const client = upstream({
    origin: { host: more.host ?? '127.0.0.1', port },
    rule: addressRule(more.trusted ?? ['127.0.0.0/8']),
    limits: { ...defaultUpstreamLimits, ...more.limits },
    clock,
    ...(more.resolve ? { resolve: more.resolve } : {}),
  })
  openResources.push(client)
  return client
}

export const helloResponse = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
export const helloSinkCalls = { events: ['head 200 Content-Length|5 5', 'end'], body: 'hello' }
export const createResponder = (text: string) => (connection: RawConnection) =>
  void connection.socket.write(text, 'latin1')
