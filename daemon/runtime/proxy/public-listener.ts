// The public listener of the proxy role: the journal of audit lines, the serving threads, and the parts that the role uses.
import { join } from 'node:path'
import { segmentFolder } from '../../../adapters/audit/segments/segment-folder.ts'
import type { PublicListener } from '../../boot/open-listener.ts'
import type { WiredRole } from '../../boot/role-wire.ts'
import { chooseDocumentsHome } from '../../boot/storage/documents.ts'
import { roleDataFolder } from '../../boot/storage/site-folder.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { TopDenials } from '../../roles/proxy/denial/top-denials.ts'
import {
  type AuditJournal,
  auditJournalPart,
  type DataPlane,
  type DataPlaneStatistics,
  type DenialStatistics,
  dataPlanePart,
  denialsPart,
} from '../../roles/proxy/parts.ts'
import { settings } from '../../roles/proxy/settings.ts'
import { ship } from '../../roles/proxy/workers/ship.ts'
import { proxyDependencies } from './proxy-health.ts'
import type { PublicListenerOptions, PublicListenerState } from './public-listener-state.ts'
import { reloadProxy } from './reload/reload-proxy.ts'
import { startThreads } from './threads/start-threads.ts'

/** Kinds of denials that are counted separately. */
const max_denial_kinds = 256

/** Opens the journal and seals what an earlier process left in it. Does not listen yet. */
export function openPublicListener(
  options: PublicListenerOptions,
): PublicListener & Required<Pick<WiredRole, 'parts' | 'dependencies'>> {
  const { folder, resolved, clock, log } = options
  const dir = join(roleDataFolder(folder, 'proxy'), 'audit')
  const segments = segmentFolder(dir)
  const recovered = segments.sealAbandoned()
  if (recovered > 0) log.info('proxy.audit.segments_recovered', { segments: recovered })
  const state: PublicListenerState = { resolved, tls: undefined, supervisor: undefined, threads: 0, observations: {} }
  const denials: DenialStatistics = {
    since: new Date(clock.now()).toISOString(),
    top: new TopDenials(max_denial_kinds),
  }
  const journal: AuditJournal = {
    ...segments,
    measure: () => measureJournal(options, state, segments.bytes),
    storesWholeSegments: chooseDocumentsHome(resolved) === 'sqlite',
  }
  const plane: DataPlane = { reload: () => reloadProxy(options, state), report: () => reportThreads(state) }
  return {
    parts: [
      [dataPlanePart.name, plane],
      [auditJournalPart.name, journal],
      [denialsPart.name, denials],
    ],
    dependencies: proxyDependencies(state, clock.now),
    listen: (listening) => startThreads(options, state, listening, dir, segments.sealAbandoned),
    finish: ship.run,
  }
}

async function reportThreads({ supervisor, threads }: PublicListenerState): Promise<DataPlaneStatistics> {
  const status = await supervisor?.report()
  return { threads: supervisor?.alive ?? threads, ...(status ?? { connections: 0, cache_bytes: 0, cache_entries: 0 }) }
}

/** Notifies the threads, and logs, only when the journal becomes full or has room again. */
async function measureJournal(
  { log }: PublicListenerOptions,
  { supervisor, resolved }: PublicListenerState,
  readSize: () => Promise<number>,
): Promise<number> {
  const bytes = await readSize()
  const { audit_journal_mb } = getSettings(resolved, settings)
  const isFull = bytes > audit_journal_mb * 1_048_576
  if (supervisor?.setJournalFull(isFull)) {
    const remedy = 'bring the store back, or raise proxy.audit_journal_mb'
    if (isFull) log.error('proxy.audit.full', { bytes, remedy })
    else log.info('proxy.audit.space_available', { bytes })
  }
  return bytes
}
