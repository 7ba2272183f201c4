// Declares the proxy role. Separate threads serve public requests; these operations serve the site.
import { type Role, role } from '../../kernel/role/role.ts'
import { ssoSettings } from '../../kernel/settings/sso-settings.ts'
import { reload } from './allowlist/reload.ts'
import type { ProxySettings } from './config.ts'
import { list as denialList } from './denial/list.ts'
import { cacheBytes, cacheEntries, connectionCount, metrics, threadCount } from './metrics.ts'
import { outline } from './outline.ts'
import { dataPlanePart } from './parts.ts'
import { list as recordList } from './record/list.ts'
import { requestRecords, segmentMarks, shippedSegments } from './record/model.ts'
import { settings } from './settings.ts'
import { findStartFaults } from './start-faults.ts'
import { ship } from './workers/ship.ts'

export const proxy: Role = role(outline, {
  collections: [requestRecords, shippedSegments, segmentMarks],
  metrics,
  workers: [ship],
  operations: {
    allowlist: { reload },
    denial: { list: denialList },
    record: { list: recordList },
  },
  messages: {},
  serviceInfo: ({ settings: resolved }) => ({
    name: 'public-proxy',
    description: 'Public listener for callers without a token',
    health_path: '/health',
    api_path: (resolved.values.get(settings.name) as ProxySettings | undefined)?.public_path_prefix ?? '',
    mcp_path: null,
    capabilities: ['public-proxy'],
    objects: [],
  }),
  refusesToStart({ settings: resolved }) {
    const values = resolved.values.get(settings.name) as ProxySettings
    const faults = findStartFaults(values, resolved.values.get(ssoSettings.name) ?? {})
    return faults.length > 0 ? faults.join('; ') : undefined
  },
  async gauges(call) {
    const { threads, connections, cache_bytes, cache_entries } = await call.part(dataPlanePart).report()
    call.set(threadCount, {}, threads)
    call.set(connectionCount, {}, connections)
    call.set(cacheBytes, {}, cache_bytes)
    call.set(cacheEntries, {}, cache_entries)
  },
})
