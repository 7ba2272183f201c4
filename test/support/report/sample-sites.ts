// Reports of a site with some trouble and of its audit log, for looking at their pages. `name` changes every text that comes from outside.
import { AuditCounter } from '../../../daemon/offline/report/audit/audit-figures.ts'
import { renderAuditReport } from '../../../daemon/offline/report/audit/audit-page.ts'
import { renderSiteReport } from '../../../daemon/offline/report/site/site-page.ts'
import type { ReportedChannel, SiteReport } from '../../../daemon/offline/report/site/site-report.ts'
import { createRandom } from '../../../daemon/roles/resolution/engine/random.ts'
import { digest, keep, label, report_at } from './sample-sessions.ts'

const jwk = { kty: 'OKP', crv: 'Ed25519', x: 'x'.repeat(43) }

function buildChannel(peer: string, direction: 'in' | 'out', change: Partial<ReportedChannel>): ReportedChannel {
  return {
    ...{
      peer,
      direction,
      transport: 'filedrop',
      state: 'open',
      stale: false,
      epoch: 1,
      next_seq: 1_205,
      highest_seq: 1_204,
    },
    ...{
      gaps: 0,
      is_inventory_pending: false,
      backlog: 0,
      held: 0,
      set_aside: [],
      quarantined: 0,
      quarantined_bytes: 0,
    },
    ...{ messages_per_minute: 4.2, sent: 1_204, received: 1_190, duplicates: 14, detail: '' },
    ...(direction === 'in' ? { inventory_age_s: 190, inventory_at: '2026-05-20T09:26:50.000Z' } : {}),
    ...change,
  }
}

export function buildSampleSite(name = keep, peerCount = 5): SiteReport {
  const changes: readonly Partial<ReportedChannel>[] = [
    {},
    { stale: true, inventory_age_s: 7_400, gaps: 3, detail: name('waits for 1201 to 1203') },
    { backlog: 42, oldest_waiting_s: 5_400, sent: 310, received: 280 },
    { state: 'frozen', detail: name('the peer began a new epoch without its root keys'), inventory_age_s: 90_000 },
    { quarantined: 2, quarantined_bytes: 48_000, sent: 4_801, received: 4_790 },
  ]
  const names = ['bravo', 'charlie', 'delta', 'echo', 'foxtrot']
  const peers = Array.from({ length: peerCount }, (_, at) => name(at < 5 ? (names[at] ?? '') : `peer-${at}`))
  const key = (kid: string, use: 'message' | 'root', not_after: string) => ({
    ...{ kid: name(kid), use, algorithm: 'Ed25519' as const, fingerprint: 'f'.repeat(43), status: 'active' as const },
    ...{ created: '2026-01-01T00:00:00.000Z', not_after, jwk },
  })
  return {
    ...{ at: report_at, source: name('alpha'), faults: [] },
    roles: ['site', 'consensus', 'resolution', 'proxy', 'hub'].map((role, at) => ({
      ...{
        role,
        state: role === 'proxy' ? name('not ready: the rules cannot be read') : 'ok',
        version: '1.0.0',
        listens: [`https://10.0.0.4:${8440 + at}`],
      },
      dependencies:
        role === 'proxy'
          ? []
          : ['store', 'carrier'].map((part, number) => ({
              ...{
                name: name(part),
                detail: name(number === 1 && role === 'site' ? 'the carrier folder is full' : 'answers'),
              },
              ...{
                state: number === 1 && role === 'site' ? ('degraded' as const) : ('ok' as const),
                latency_ms: 1.4 + 3.3 * at + number,
              },
            })),
    })),
    channels: peers.flatMap((peer, at) => [
      buildChannel(peer, 'out', at === 2 ? (changes[2] ?? {}) : at === 4 ? { sent: 4_801 } : {}),
      buildChannel(peer, 'in', changes[at % changes.length] ?? {}),
    ]),
    peers: peers.map((peer, at) => ({
      ...{
        name: peer,
        tenant_id: name(`tenant-${at}`),
        keys: [key(`${peer}-m1`, 'message', `2026-${at + 5}-28T00:00:00.000Z`.replace(/-(\d)-/, '-0$1-'))],
      },
      ...{ threshold: 1, ceiling: label(name), releasable_names: [], max_v: 1, not_after_days: 7, keep_days: 30 },
      ...{ inventory_interval_s: 300, enrolled: '2026-01-12T00:00:00.000Z' },
    })),
    keys: [key('alpha-m1', 'message', '2026-12-01T00:00:00.000Z'), key('alpha-r1', 'root', '2029-01-01T00:00:00.000Z')],
    certificate: { names: name('alpha.example'), not_after: '2026-06-11T00:00:00.000Z' },
    nodes: [
      {
        ...{ id: 'bravo', site: 'bravo', description: name('coastal station'), tenant_id: 'x', state: 'lost' },
        ...{ registered_at: report_at, heard_at: '2026-05-19T21:00:00.000Z' },
      } as never,
    ],
    sessions: [
      { state: 'PENDING_QUORUM', count: 41 },
      { state: 'IN_CONFLICT', count: 6 },
      { state: 'RATIFIED', count: 1_822 },
    ],
    findings: [
      { code: 'profile.ok', check: 'profile', state: 'ok', detail: name('5 roles') },
      {
        code: 'tls.certificate_expiring',
        check: 'tls',
        state: 'warning',
        detail: name('the certificate ends on 2026-06-11'),
        remedy: 'platform keys cert renew',
      },
      {
        code: 'traffic.frozen',
        check: 'channels',
        state: 'problem',
        detail: name('echo in is frozen'),
        remedy: 'platform filedrop unfreeze echo',
      },
    ],
  }
}

export function renderSampleSite(name = keep, peerCount = 5): string {
  return renderSiteReport(buildSampleSite(name, peerCount))
}

export function renderSampleAudit(name = keep, records = 4_000): string {
  const counter = new AuditCounter()
  const random = createRandom(7)
  const actions = [
    'consensus.session.create',
    'consensus.session.contribute',
    'site.message.land',
    'resolution.entity.get',
    'site.token.issue',
  ]
  const subjects = ['alice', 'bob', 'service:consensus', 'cli:root', 'peer:bravo']
  const start = Date.parse('2026-05-04T00:00:00Z')
  for (let seq = 1; seq <= records; seq++) {
    const day = Math.floor(random() * 16)
    const hour = random() < 0.85 ? 7 + Math.floor(10 * random()) : Math.floor(24 * random())
    const pick = (list: readonly string[]) => list[Math.floor(list.length * random() ** 2)] ?? ''
    const at = new Date(start + (day * 24 + hour) * 3_600_000 + seq * 500).toISOString()
    counter.take({
      ...{
        writer: name(seq % 3 === 0 ? 'site@alpha' : 'consensus@alpha'),
        seq,
        prev: digest('0'),
        event_digest: digest('1'),
        hash: digest('2'),
      },
      event: {
        ...{ at, action: name(pick(actions)), outcome: random() < 0.04 ? 'refused' : 'done', tenant_id: 'acme' },
        ...{ subject: name(pick(subjects)), target: name(`ses_${seq}`), trace_id: digest('3'), detail: {} },
      },
    })
  }
  return renderAuditReport({
    ...{ at: report_at, source: name('alpha'), faults: [] },
    chains: [
      { writer: name('site@alpha'), records: 1_333, checkpoints: 12, faults: [] },
      { writer: name('consensus@alpha'), records: 2_667, checkpoints: 12, faults: [name('record 88 is altered')] },
    ],
    figures: counter.figures(),
  })
}
