// Channels as people read them fit a terminal, and a bar says how much is left and for how long.
import { expect, test } from 'vitest'
import { line_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import {
  formatAge,
  formatChannels,
  formatChannelTroubles,
  formatDrainProgress,
  type TransportChannelStatus,
} from './channel.ts'

const terminal = { hasColour: false } as Terminal
const channel: TransportChannelStatus = {
  ...{ transport: 'filedrop', peer: 'headquarters-7', direction: 'in', state: 'open', stale: false, epoch: 12 },
  ...{
    next_seq: 1_234_567,
    highest_seq: 1_234_599,
    is_inventory_pending: false,
    set_aside: [],
    gaps: 12,
    inventory_age_s: 7_300,
    backlog: 100_000,
    held: 1_024,
  },
  ...{ oldest_waiting_s: 86_399, quarantined: 1_000, quarantined_bytes: 1_073_741_824, messages_per_minute: 12_345.6 },
  ...{ sent: 0, received: 1_234_500, duplicates: 3, detail: '' },
}

test('a busy channel fits 120 columns', () => {
  const lines = formatChannels(terminal, [channel, { ...channel, direction: 'out', state: 'stopped' }]).split(
    line_break,
  )
  expect(lines[0]).toMatch(
    /^PEER +WAY +STATE +EPOCH +NEXT +HIGHEST +GAPS +BACKLOG +HELD +OLDEST +INVENTORY +QUARANTINE +PER MIN$/,
  )
  expect(lines[1]).toMatch(
    /in +open +12 +1234567 +1234599 +12 +100000 +1024 +23 h +2 h +1000 \(1073\.7 MB\) +12345\.6$/,
  )
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(120)
})

test('what is not known, or nothing, is a dash', () => {
  const { oldest_waiting_s: _, inventory_age_s: __, ...rest } = channel
  const [, line = ''] = formatChannels(terminal, [{ ...rest, quarantined: 0, quarantined_bytes: 0 }]).split(line_break)
  expect(line).toMatch(/1024 +- +- +- +12345\.6$/)
})

test('before an inventory has shown the last number, what is missing is not known', () => {
  const pending = { ...channel, is_inventory_pending: true }
  const [, line = '', other = ''] = formatChannels(terminal, [pending, { ...pending, gaps: 0 }]).split(line_break)
  expect([line, other].map((each) => each.split(/ +/)[6])).toEqual(['12+', '?'])
})

test('a peer without a channel has a line, and nothing in it', () => {
  const [, , line = ''] = formatChannels(terminal, [channel], ['bravo']).split(line_break)
  expect(line).toMatch(/^bravo( +-) +closed( +-){10}$/)
})

test('each trouble is a line of its own', () => {
  expect(formatChannelTroubles(terminal, [channel])).toEqual([])
  expect(
    formatChannelTroubles(terminal, [
      { ...channel, state: 'frozen', detail: 'two statements under number 7' },
      { ...channel, direction: 'out', stale: true, detail: 'publishing failed' },
      { ...channel, set_aside: [{ role: 'intelligence', kind: 'signal', messages: 3 }] },
    ]),
  ).toEqual([
    'headquarters-7 in is frozen: two statements under number 7',
    'headquarters-7 out is stale: its inventories have stopped',
    'headquarters-7 out: publishing failed',
    'headquarters-7 in: 3 of kind signal wait for role intelligence, which this site does not run: run the role, or platform filedrop discard headquarters-7 --first N --last N --reason TEXT (platform filedrop waiting headquarters-7 lists them)',
  ])
})

test.each([
  [0, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [3_600, '1 h'],
  [200_000, '2 d'],
])('%d seconds are %s', (seconds, words) => expect(formatAge(seconds)).toBe(words))

test('the bar fills as the backlog drains, and tells the time that is left at this pace', () => {
  expect(formatDrainProgress(100, 100, 0)).toBe(`[${'.'.repeat(24)}] 100 of 100 left`)
  expect(formatDrainProgress(50, 100, 10)).toBe(
    `[${'#'.repeat(12)}${'.'.repeat(12)}] 50 of 100 left, 300 a minute, 10 s to go`,
  )
  expect(formatDrainProgress(99_999, 100_000, 1)).toContain('60 a minute, 1 d to go')
  expect(formatDrainProgress(0, 100, 20)).toContain(`[${'#'.repeat(24)}] 0 of 100 left`)
  expect(formatDrainProgress(0, 0, 0)).toContain('0 of 0 left')
})
