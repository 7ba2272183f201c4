// Shows every channel with its numbers, backlog and faults, and follows a backlog until it is gone.
import { setTimeout as pause } from 'node:timers/promises'
import { offline } from '../../../daemon/offline/offline.ts'
import type { ServiceClient } from '../../client/client.ts'
import {
  formatChannels,
  formatChannelTroubles,
  formatDrainProgress,
  type TransportChannelStatus,
} from '../../format/channel.ts'
import { noteUnaccreditedPeers } from '../../format/peer.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { requireSite } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'filedrop status',
  summary: 'Show file-drop channels: state, numbers, gaps, backlog, quarantine',
  notes: [
    'BACKLOG: messages that no carrier has taken (out) or that were not imported yet (in). OLDEST: the age of the',
    'first. HELD: messages that wait behind a gap. INVENTORY: the age of the last one. PER MIN: over the last',
    'five minutes. STATE closed: the peer is pinned, but has no channel until it is accredited. With --watch,',
    'ends when no backlog is left, with a progress bar on a terminal; fails if a channel with a backlog stops.',
  ].join('\n'),
  options: {
    peer: text('PEER', 'Only channels with this peer'),
    watch: flag('Wait until the backlog is gone'),
    ...serviceOptions,
  },
  example: 'platform filedrop status --watch',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const look = () => fetchChannels(api, given.peer)
    const items = given.watch ? await waitUntilDrained(look, terminal) : await look()
    const closed = given.url === undefined ? await listClosedPeers(given, items, terminal) : []
    const names = closed.map(({ peer }) => peer)
    printResult(terminal, given.json, { items }, () => formatChannels(terminal, items, names))
    for (const trouble of formatChannelTroubles(terminal, items)) terminal.note(trouble)
    noteUnaccreditedPeers(terminal, closed)
    return 0
  },
})

type ChannelSelection = { readonly site: string | undefined; readonly peer: string | undefined }

/** Peers of the site on this machine that are pinned, have no channel, and may have none as its profile stands. */
async function listClosedPeers(
  { site, peer }: ChannelSelection,
  items: readonly TransportChannelStatus[],
  terminal: Terminal,
) {
  const folder = requireSite({ site }, terminal)
  const peers = await offline.peers()
  const names = (await peers.listPeers(folder))
    .map(({ name }) => name)
    .filter((name) => (peer === undefined || name === peer) && !items.some((item) => item.peer === name))
  return peers.listUnaccreditedPeers(folder, terminal.env, names, Date.now())
}

async function fetchChannels(api: ServiceClient, peer: string | undefined): Promise<readonly TransportChannelStatus[]> {
  const { items } = await api.call('site.channel.list', {})
  return (items as readonly TransportChannelStatus[]).filter(
    (channel) => channel.transport === 'filedrop' && (peer === undefined || channel.peer === peer),
  )
}

const poll_interval_ms = 1_000

/** What is there once nothing waits. Throws `CommandFailure` (1) when a channel with a backlog cannot drain. */
async function waitUntilDrained(
  look: () => Promise<readonly TransportChannelStatus[]>,
  terminal: Terminal,
): Promise<readonly TransportChannelStatus[]> {
  let most = 0
  let since = performance.now()
  for (;;) {
    const channels = await look()
    const left = channels.reduce((sum, { backlog }) => sum + backlog, 0)
    if (left > most) {
      most = left
      since = performance.now()
    }
    terminal.progress(left === 0 ? '' : formatDrainProgress(left, most, (performance.now() - since) / 1_000))
    if (left === 0) return channels
    const stuck = channels.find(({ backlog, state }) => backlog > 0 && state !== 'open')
    if (stuck) {
      terminal.progress('')
      throw new CommandFailure(
        1,
        `the channel ${stuck.peer} ${stuck.direction} cannot drain; it is ${stuck.state}: ${stuck.detail}`,
      )
    }
    await pause(poll_interval_ms)
  }
}
