// A client of an upstream and a server that says what a test gives it, in time that a test moves by hand.
import { expect, vi } from 'vitest'
import { addressRule } from '../../adapters/forward/http/address-rule.ts'
import type { Resolve } from '../../adapters/forward/http/dial.ts'
import { defaultUpstreamLimits, type UpstreamLimits } from '../../adapters/forward/http/limits.ts'
import type { Sink, UpstreamRequest } from '../../adapters/forward/http/sink.ts'
import { type Upstream, upstream } from '../../adapters/forward/http/upstream.ts'
import { handClock } from './hand-clock.ts'
import { type RawConnection, type RawUpstream, rawUpstream } from './raw-upstream.ts'

/** Conditions are looked at often, and waited for long. */
export const soon = { interval: 2, timeout: 60_000 }

const opened: { close(): unknown }[] = []
export async function closeAll(): Promise<void> {
  for (const one of opened.splice(0).reverse()) await one.close()
}

/** What a sink was told: calls in order, and all bytes. While `isHeld` it asks for no more. */
export type Told = { events: string[]; body: string; isHeld: boolean }

/** Notes what it is told, in order. */
export function noting(): Sink & { readonly told: Told } {
  const told: Told = { events: [], body: '', isHeld: false }
  return {
    told,
    head: (status, rawHeaders, length) => void told.events.push(`head ${status} ${rawHeaders.join('|')} ${length}`),
    data(bytes) {
      told.body += bytes.toString('latin1')
      return !told.isHeld
    },
    flush: () => undefined,
    end: () => void told.events.push('end'),
    fail: (failure) => void told.events.push(`fail ${failure}`),
  }
}

/** A client and the server that it asks; `closeAll` ends both. */
export async function upstreamWorld(
  answer: (connection: RawConnection, requests: number) => void,
  more: { limits?: Partial<UpstreamLimits>; host?: string; resolve?: Resolve; trusted?: readonly string[] } = {},
) {
  const server = await rawUpstream(answer)
  opened.push(server)
  const clock = handClock()
  const client = clientOf(server, clock, more)
  const ask = (given: Partial<UpstreamRequest> = {}) => {
    const sink = noting()
    const flight = client.forward({ method: 'GET', path: '/a', headers: ['host', 'up'], ...given }, sink)
    return { flight, told: sink.told }
  }
  const over = (told: Told) => vi.waitFor(() => expect(told.events.at(-1)).toMatch(/^(end|fail)/), soon)
  return { server, clock, client, ask, over }
}

function clientOf(
  { port }: RawUpstream,
  clock: ReturnType<typeof handClock>,
  more: { limits?: Partial<UpstreamLimits>; host?: string; resolve?: Resolve; trusted?: readonly string[] },
): Upstream {
  const client = upstream({
    origin: { host: more.host ?? '127.0.0.1', port },
    rule: addressRule(more.trusted ?? ['127.0.0.0/8']),
    limits: { ...defaultUpstreamLimits, ...more.limits },
    clock,
    ...(more.resolve ? { resolve: more.resolve } : {}),
  })
  opened.push(client)
  return client
}

export const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
export const helloTold = { events: ['head 200 Content-Length|5 5', 'end'], body: 'hello' }
export const says = (text: string) => (connection: RawConnection) => void connection.socket.write(text, 'latin1')
