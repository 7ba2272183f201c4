// Checks that messages flow: reports frozen and silent channels, and messages that nobody collects, by the times of
// the journal.
import * as fs from 'node:fs'
import { sqliteJournal } from '../../../../adapters/store/sqlite/journal.ts'
import { foldersOf } from '../../../../adapters/transport/filedrop/files/channel-folders.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import type { Peer } from '../../../kernel/identity/peer.ts'
import type { Journal, JournalChannel } from '../../../kernel/messaging/journal.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { listRunningRoles } from '../../site/running-roles.ts'
import { listRolesWithDatabase, withDatabase } from '../../store/role-database.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem, reportWarning } from '../finding.ts'

/** Number of inventory intervals, counted as the carrier does: inventories show how often a channel is served. */
const stale_intervals = 3

export async function checkTraffic({ folder, now }: DoctorContext): Promise<DoctorFinding[]> {
  const site = listRolesWithDatabase(folder).find(({ name }) => name === 'site')
  const peers = await listPeers(folder)
  if (!site || peers.length === 0) return []
  const isRunning = (await listRunningRoles(folder)).includes('site')
  const findings = await withDatabase(folder, site, async ({ sqlite, audit }) => {
    const journal = sqliteJournal(sqlite, audit)
    const channels = await journal.channels()
    const judged = peers.map((peer) => {
      const own = channels.filter((channel) => channel.peer === peer.name)
      return checkPeerTraffic(peer, own, { folder, journal, now, isRunning })
    })
    return (await Promise.all(judged)).flat()
  })
  return findings.length > 0 ? findings : [reportOk('traffic', 'no channel is frozen, silent or stuck')]
}

type TrafficContext = {
  readonly folder: SiteFolder
  readonly journal: Journal
  readonly now: number
  readonly isRunning: boolean
}

async function checkPeerTraffic(
  peer: Peer,
  channels: readonly JournalChannel[],
  around: TrafficContext,
): Promise<DoctorFinding[]> {
  const found: DoctorFinding[] = []
  for (const channel of channels) {
    if (channel.state === 'frozen') found.push(reportFrozenChannel(peer, channel))
    else if (channel.direction === 'in') found.push(...checkSilentChannel(peer, channel, around))
    else found.push(...(await checkStuckChannel(peer, channel, around)))
  }
  return found
}

function reportFrozenChannel({ name }: Peer, { direction, detail }: JournalChannel): DoctorFinding {
  const look =
    direction === 'in'
      ? `settle with the people of ${name} which of its messages are true (platform filedrop quarantine list --peer ${name}); then platform filedrop unfreeze ${name}, and it opens a new epoch`
      : `platform filedrop epoch ${name}`
  return reportProblem(
    'traffic',
    `the channel ${direction === 'in' ? 'from' : 'to'} ${name} is frozen: ${detail}`,
    look,
  )
}

/** Only a running site can tell: a stopped one received nothing from anybody. */
function checkSilentChannel(
  peer: Peer,
  { inventory_at }: JournalChannel,
  { now, isRunning }: TrafficContext,
): DoctorFinding[] {
  const since = inventory_at || Date.parse(peer.enrolled)
  if (!isRunning || now - since <= stale_intervals * peer.inventory_interval_s * 1_000) return []
  const what =
    inventory_at === 0 ? 'no inventory has ever come' : `no inventory has come since ${formatInstant(inventory_at)}`
  return [
    reportWarning(
      'traffic',
      `the channel from ${peer.name} is stale: ${what}`,
      `look at the carrier, then ask ${peer.name} whether it sends`,
    ),
  ]
}

/** Waiting by the journal and still in the folder, so that the delay is not only this site's. */
async function checkStuckChannel(
  peer: Peer,
  { channel }: JournalChannel,
  { folder, journal, now }: TrafficContext,
): Promise<DoctorFinding[]> {
  const { spooled, published, oldest } = await journal.backlog(channel)
  if (oldest === undefined || now - oldest <= stale_intervals * peer.inventory_interval_s * 1_000) return []
  const { ready } = foldersOf(folder.filedrop, peer.name)
  const isThere = (fs.existsSync(ready) ? fs.readdirSync(ready) : []).some((name) => name.endsWith('.json'))
  const since = formatInstant(oldest)
  if (isThere) {
    const detail = `${peer.name}: no carrier takes what is ready (${formatMessageCount(spooled + published)}, the first since ${since})`
    return [reportWarning('traffic', detail, `look why nobody takes them from ${ready}`)]
  }
  if (spooled === 0) return []
  const detail = `${peer.name}: not made ready yet (${formatMessageCount(spooled)}, the first since ${since})`
  return [reportWarning('traffic', detail, 'start the site; while it runs: platform filedrop status')]
}

function formatMessageCount(messages: number): string {
  return messages === 1 ? '1 message' : `${messages} messages`
}

function formatInstant(at: number): string {
  return new Date(at).toISOString()
}
