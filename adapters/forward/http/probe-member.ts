// One active probe of a member of a pool.
import type { ActiveRequest, Upstream } from '../../../daemon/kernel/forward/upstream.ts'
import { user_agent } from '../../platform/product/product.ts'
import type { UpstreamOrigin } from './dial.ts'

/** A longer answer to a probe is not read: the head has decided. */
const max_answer_bytes = 65_536

/** `done` is called once: undefined where the probe proves nothing, since all connections are in use. */
export function probeMember(
  client: Upstream,
  { host, port }: UpstreamOrigin,
  { probe_path, probe_ms }: { readonly probe_path: string; readonly probe_ms: number },
  done: (isOk: boolean | undefined) => void,
): ActiveRequest {
  let isOk = false
  let read_bytes = 0
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const request = {
    method: 'GET',
    path: probe_path,
    headers: ['host', authority, 'accept', '*/*', 'user-agent', user_agent],
    limits: { idle_ms: probe_ms, total_ms: probe_ms },
  }
  const active = client.forward(request, {
    head(status) {
      isOk = status < 400
    },
    data(bytes) {
      read_bytes += bytes.length
      if (read_bytes <= max_answer_bytes) return true
      active.abort()
      done(isOk)
      return false
    },
    flush() {},
    end: () => done(isOk),
    fail: (failure) => done(failure === 'busy' ? undefined : false),
  })
  return active
}
