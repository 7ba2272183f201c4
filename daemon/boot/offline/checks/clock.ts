// Whether the clock can be believed: against what the site has written down, against its file system, and by its own word.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { listKeys } from '../../../../adapters/keys/jose/key-life.ts'
import { sqliteJournal } from '../../../../adapters/store/sqlite/journal.ts'
import type { Journal } from '../../../kernel/journal.ts'
import { filedropSettings } from '../../../roles/site/settings.ts'
import { asOwnerOf } from '../../acting.ts'
import { valuesOf } from '../../profile.ts'
import type { SiteFolder } from '../../site-folder.ts'
import type { Examined } from '../examination.ts'
import { day_ms, type Finding, fine, problem, warning } from '../finding.ts'
import { rolesWithDatabase, withDatabase } from '../role-database.ts'
import { settledProfile } from '../site-profile.ts'

/** Tokens and messages tolerate a minute and a quarter of an hour; two clocks of one machine should not differ at all. */
const file_clock_tolerance_ms = 5_000
const set_back_tolerance_ms = 60_000
/** A site that is in use writes down something every day. */
const silent_days = 30

const remedy = 'set the clock (chronyc makestep, or timedatectl set-time), then look again'

export async function clockFindings({ folder, env, now }: Examined): Promise<Finding[]> {
  const { what, at } = await newestRecord(folder)
  if (at > now + set_back_tolerance_ms) {
    return [problem('clock', `the clock says ${isoOf(now)}, but ${what} later, at ${isoOf(at)}`, remedy)]
  }
  const found = [...ahead(what, at, now), ...drift(folder), ...(await unsynchronised(folder, env))]
  return found.length > 0 ? found : [fine('clock', isoOf(now))]
}

function ahead(what: string, at: number, now: number): Finding[] {
  const days = Math.floor((now - at) / day_ms)
  if (at === 0 || days < silent_days) return []
  const detail = `the clock says ${isoOf(now)}, and ${what} last ${days} days ago: the site stood still, or the clock has jumped`
  return [
    warning('clock', detail, 'compare it with another clock before the site runs: what it dates wrongly stays so'),
  ]
}

function drift({ run }: SiteFolder): Finding[] {
  const drift_ms = Math.abs(asOwnerOf(run, () => fileClock(run)) - Date.now())
  if (drift_ms <= file_clock_tolerance_ms) return []
  const detail = `the file system’s clock differs from the machine’s by ${Math.round(drift_ms / 1000)} s`
  return [warning('clock', detail, 'set both clocks from one source; a network file system has its own')]
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

type Written = { readonly what: string; readonly at: number }

/** The latest that the site has dated: a key, an audit record, a message. */
async function newestRecord(folder: SiteFolder): Promise<Written> {
  const times = listKeys(folder.keys).map(({ created }) => ({
    what: 'a key of this site was made',
    at: Date.parse(created),
  }))
  for (const role of rolesWithDatabase(folder)) {
    times.push(
      ...(await withDatabase(folder, role, async ({ audit, sqlite }) => {
        const [newest] = await audit.list({ limit: 1 })
        const at = newest?.event ? Date.parse(newest.event.at) : 0
        const recorded = { what: `${role.name} has recorded something`, at }
        if (role.name !== 'site') return [recorded]
        return [recorded, { what: 'a message came or went', at: await lastMessage(sqliteJournal(sqlite, audit)) }]
      })),
    )
  }
  return times.reduce((latest, each) => (each.at > latest.at ? each : latest), { what: '', at: 0 })
}

async function lastMessage(journal: Journal): Promise<number> {
  let last = 0
  for (const { channel, direction, epoch, inventory_at } of await journal.channels()) {
    const { highest } = await journal.progress(channel, epoch)
    const entry = direction === 'in' ? await journal.entry(channel, epoch, highest) : undefined
    last = Math.max(last, inventory_at, entry?.at ?? 0)
  }
  return last
}

/** What systemd's time service says, where there is one; nothing where no clock is trusted anyway. */
async function unsynchronised(folder: SiteFolder, env: Examined['env']): Promise<Finding[]> {
  if (!valuesOf(settledProfile(folder, env), filedropSettings).trusted_clock) return []
  if ((await timeService(env)) !== 'no') return []
  const set = 'give the machine a source of time (NTP, a radio clock), or set filedrop.trusted_clock to false'
  return [warning('clock', 'the machine’s clock follows no other', set)]
}

function timeService(env: Examined['env']): Promise<string | undefined> {
  // An empty path would mean the folder that the command is typed in.
  const { PATH } = env
  if (!PATH) return Promise.resolve(undefined)
  const options = { timeout: 2_000, env: { PATH } }
  return new Promise((resolve) => {
    execFile('timedatectl', ['show', '--property=NTPSynchronized', '--value'], options, (error, stdout) => {
      resolve(error ? undefined : stdout.trim())
    })
  })
}

function isoOf(at: number): string {
  return new Date(at).toISOString()
}
