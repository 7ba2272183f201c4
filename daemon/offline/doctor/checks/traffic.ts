// Checks traffic by the times of the journal: reports frozen and silent channels, and messages that no carrier takes.
import * as fs from 'node:fs'
import * as z from 'zod'
import { sqliteJournal } from '../../../../adapters/store/sqlite/journal/journal.ts'
import { foldersOf } from '../../../../adapters/transport/filedrop/files/channel-folders.ts'
import { countSetAside } from '../../../../adapters/transport/filedrop/link/link-status.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import type { Peer } from '../../../kernel/identity/peer.ts'
import type { Journal, JournalChannel } from '../../../kernel/messaging/journal.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { roleTask } from '../../role-task/role-task.ts'
import { runRoleTask } from '../../role-task/run-role-task.ts'
import { listRunningRoles } from '../../site/running-roles.ts'
import { listRolesWithDatabase, withDatabase } from '../../store/role-database.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, doctorFinding, reportOk, reportProblem, reportWarning } from '../finding.ts'

/** Number of inventory intervals, counted as the carrier does: inventories show how often a channel is served. */
const stale_intervals = 3

export async function checkTraffic({ folder, env, now }: DoctorContext): Promise<DoctorFinding[]> {
  const site = listRolesWithDatabase(folder).find(({ name }) => name === 'site')
  if (!site || (await listPeers(folder)).length === 0) return []
  const isRunning = (await listRunningRoles(folder)).includes('site')
  const findings = await runRoleTask(examineTraffic, { folder, env, role: site }, { now, isRunning })
  return findings.length > 0 ? findings : [reportOk('traffic', 'no channel is frozen, silent or stuck')]
}

export const examineTraffic = roleTask({
  name: 'examine-traffic',
  input: z.strictObject({ now: z.number(), isRunning: z.boolean() }),
  event: z.never(),
  output: z.array(doctorFinding),
  run: ({ folder, role }, { now, isRunning }) =>
    withDatabase(folder, role, async ({ sqlite, audit }) => {
      const journal = sqliteJournal(sqlite, audit)
      const channels = await journal.channels()
      const checks = (await listPeers(folder)).map((peer) => {
        const peerChannels = channels.filter((channel) => channel.peer === peer.name)
        return checkPeerTraffic(peer, peerChannels, { folder, journal, now, isRunning })
      })
      return (await Promise.all(checks)).flat()
    }),
})

type TrafficContext = {
  readonly folder: SiteFolder
  readonly journal: Journal
  readonly now: number
  readonly isRunning: boolean
}

async function checkPeerTraffic(
  peer: Peer,
  channels: readonly JournalChannel[],
  context: TrafficContext,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  for (const channel of channels) {
    if (channel.state === 'frozen') findings.push(reportFrozenChannel(peer, channel))
    else if (channel.direction === 'in')
      findings.push(...checkSilentChannel(peer, channel, context), ...(await checkSetAside(peer, channel, context)))
    else findings.push(...(await checkStuckChannel(peer, channel, context)))
  }
  return findings
}

function reportFrozenChannel({ name }: Peer, { direction, detail }: JournalChannel): DoctorFinding {
  const remedy =
    direction === 'in'
      ? `agree with the operators of ${name} which of its messages are valid (platform filedrop quarantine list --peer ${name}); then platform filedrop unfreeze ${name} --reason TEXT; the peer opens a new epoch`
      : `platform filedrop epoch ${name}`
  return reportProblem(
    'traffic.frozen',
    `the channel ${direction === 'in' ? 'from' : 'to'} ${name} is frozen: ${detail}`,
    remedy,
  )
}

/** Skipped while the site is stopped, since it then receives nothing from any peer. */
function checkSilentChannel(
  peer: Peer,
  { inventory_at }: JournalChannel,
  { now, isRunning }: TrafficContext,
): DoctorFinding[] {
  const since = inventory_at || Date.parse(peer.enrolled)
  if (!isRunning || now - since <= stale_intervals * peer.inventory_interval_s * 1_000) return []
  const detail =
    inventory_at === 0
      ? 'no inventory was ever received'
      : `no inventory was received since ${formatInstant(inventory_at)}`
  return [
    reportWarning(
      'traffic.stale',
      `the channel from ${peer.name} is stale: ${detail}`,
      `check the carrier, then ask the operators of ${peer.name} whether it sends`,
    ),
  ]
}

/** The messages are safe, and nothing is wrong with the carrier: only a person can decide about them. */
async function checkSetAside(
  { name }: Peer,
  { channel }: JournalChannel,
  { journal }: TrafficContext,
): Promise<DoctorFinding[]> {
  return countSetAside(await journal.setAside(channel)).map(({ role, kind, messages }) =>
    reportWarning(
      'traffic.role_missing',
      `the channel from ${name}: ${formatMessageCount(messages)} of kind ${kind} wait for role ${role}, which this site does not run`,
      `run role ${role} (platform.roles), or platform filedrop discard ${name} --first N --last N --reason TEXT; platform filedrop waiting ${name} lists them`,
    ),
  )
}

/** Messages that wait by the journal and are still in the folder: then the carrier causes the delay. */
async function checkStuckChannel(
  peer: Peer,
  { channel }: JournalChannel,
  { folder, journal, now }: TrafficContext,
): Promise<DoctorFinding[]> {
  const { spooled, published, oldest } = await journal.backlog(channel)
  if (oldest === undefined || now - oldest <= stale_intervals * peer.inventory_interval_s * 1_000) return []
  const { ready } = foldersOf(folder.filedrop, peer.name)
  const hasReadyFiles = (fs.existsSync(ready) ? fs.readdirSync(ready) : []).some((name) => name.endsWith('.json'))
  const since_ms = formatInstant(oldest)
  if (hasReadyFiles) {
    const detail = `${peer.name}: no carrier takes the ready messages (${formatMessageCount(spooled + published)}, the first since ${since_ms})`
    return [reportWarning('traffic.not_taken', detail, `check the carrier that takes them from ${ready}`)]
  }
  if (spooled === 0) return []
  const detail = `${peer.name}: not made ready yet (${formatMessageCount(spooled)}, the first since ${since_ms})`
  return [reportWarning('traffic.not_ready', detail, 'start the site; while it runs: platform filedrop status')]
}

function formatMessageCount(messages: number): string {
  return messages === 1 ? '1 message' : `${messages} messages`
}

function formatInstant(instant_ms: number): string {
  return new Date(instant_ms).toISOString()
}
