// Whether the machine under the site can be relied on: its clock and its disk.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { listKeys } from '../../../../adapters/keys/jose/key-life.ts'
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

/** Tokens and messages tolerate a minute and a quarter of an hour; two clocks of one machine should not differ at all. */
const file_clock_tolerance_ms = 5_000

export function clockFindings({ folder, now }: Examined): Finding[] {
  const newest = Math.max(...listKeys(folder.keys).map((key) => Date.parse(key.created)), 0)
  if (newest > now + 60_000) {
    const detail = `the clock says ${isoOf(now)}, but a key of this site was made later, at ${isoOf(newest)}`
    return [problem('clock', detail, 'set the clock (chronyc makestep, or timedatectl set-time), then look again')]
  }
  const drift_ms = Math.abs(fileClock(folder.run) - Date.now())
  if (drift_ms > file_clock_tolerance_ms) {
    const detail = `the file system’s clock differs from the machine’s by ${Math.round(drift_ms / 1000)} s`
    return [warning('clock', detail, 'set both clocks from one source; a network file system has its own')]
  }
  return [fine('clock', isoOf(now))]
}

/** What the file system takes the time to be. */
function fileClock(dir: string): number {
  const probe = join(dir, `.clock-${randomBytes(6).toString('hex')}`)
  fs.writeFileSync(probe, '', { flag: 'wx', mode: 0o600 })
  try {
    return fs.statSync(probe).mtimeMs
  } finally {
    fs.rmSync(probe, { force: true })
  }
}

const scarce_bytes = 1024 ** 3
const too_little_bytes = 128 * 1024 ** 2

export function diskFindings({ folder }: Examined): Finding[] {
  const bySystem = new Map<number, string>()
  for (const path of [folder.data, folder.filedrop]) {
    const { dev } = fs.statSync(path)
    if (!bySystem.has(dev)) bySystem.set(dev, path)
  }
  return [...bySystem.values()].map(roomOn)
}

function roomOn(path: string): Finding {
  const { bavail, bsize, ffree, files } = fs.statfsSync(path)
  const free = bavail * bsize
  const said = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${path}`
  const remedy = 'make room: nothing is acknowledged that cannot be written'
  if (free < too_little_bytes) return problem('disk', said, remedy)
  if (files > 0 && ffree < 1_000) return problem('disk', `only ${ffree} more files fit at ${path}`, remedy)
  return free < scarce_bytes ? warning('disk', said, remedy) : fine('disk', said)
}

function isoOf(at: number): string {
  return new Date(at).toISOString()
}
