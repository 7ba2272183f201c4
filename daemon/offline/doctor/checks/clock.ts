// Checks the clock against the latest recorded times of the site, its file system, and the time service.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { listKeys } from '../../../../adapters/keys/jose/key-lifecycle.ts'
import { sqliteJournal } from '../../../../adapters/store/sqlite/journal.ts'
import { runAsOwnerOf } from '../../../boot/host/act-as-owner.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import type { Journal } from '../../../kernel/messaging/journal.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { filedropSettings } from '../../../roles/site/settings.ts'
import { resolveProfile } from '../../site/site-profile.ts'
import { listRolesWithDatabase, withDatabase } from '../../store/role-database.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, day_ms, reportOk, reportProblem, reportWarning } from '../finding.ts'

/** Tokens tolerate a minute and messages a quarter of an hour; two clocks of one machine should not differ. */
const file_clock_tolerance_ms = 5_000
const set_back_tolerance_ms = 60_000
/** A site in use records something every day. */
const max_silent_days = 30

const remedy = 'set the clock (chronyc makestep, or timedatectl set-time), then look again'

export async function checkClock({ folder, env, now }: DoctorContext): Promise<DoctorFinding[]> {
  const { what, at } = await findNewestEvent(folder)
  if (at > now + set_back_tolerance_ms) {
    return [
      reportProblem(
        'clock',
        `the clock says ${formatInstant(now)}, but ${what} later, at ${formatInstant(at)}`,
        remedy,
      ),
    ]
  }
  const found = [
    ...checkClockAhead(what, at, now),
    ...checkFileClockDrift(folder),
    ...(await checkSynchronisation(folder, env)),
  ]
  return found.length > 0 ? found : [reportOk('clock', formatInstant(now))]
}

function checkClockAhead(what: string, at: number, now: number): DoctorFinding[] {
  const days = Math.floor((now - at) / day_ms)
  if (at === 0 || days < max_silent_days) return []
  const detail = `the clock says ${formatInstant(now)}, and ${what} last ${days} days ago: the site stood still, or the clock has jumped`
  return [
    reportWarning(
      'clock',
      detail,
      'compare it with another clock before the site runs: what it dates wrongly stays so',
    ),
  ]
}

function checkFileClockDrift({ run }: SiteFolder): DoctorFinding[] {
  const drift_ms = Math.abs(runAsOwnerOf(run, () => readFileClock_ms(run)) - Date.now())
  if (drift_ms <= file_clock_tolerance_ms) return []
  const detail = `the file system’s clock differs from the machine’s by ${Math.round(drift_ms / 1000)} s`
  return [reportWarning('clock', detail, 'set both clocks from one source; a network file system has its own')]
}

/** Reads the time that the file system gives a new file. */
function readFileClock_ms(dir: string): number {
  const probe = join(dir, `.clock-${randomBytes(6).toString('hex')}`)
  fs.writeFileSync(probe, '', { flag: 'wx', mode: 0o600 })
  try {
    return fs.statSync(probe).mtimeMs
  } finally {
    fs.rmSync(probe, { force: true })
  }
}

type DatedEvent = { readonly what: string; readonly at: number }

/** Returns the latest time that the site has recorded: of a key, an audit record, a message. */
async function findNewestEvent(folder: SiteFolder): Promise<DatedEvent> {
  const times = listKeys(folder.keys).map(({ created }) => ({
    what: 'a key of this site was made',
    at: Date.parse(created),
  }))
  for (const role of listRolesWithDatabase(folder)) {
    times.push(
      ...(await withDatabase(folder, role, async ({ audit, sqlite }) => {
        const [newest] = await audit.list({ limit: 1 })
        const at = newest?.event ? Date.parse(newest.event.at) : 0
        const recorded = { what: `${role.name} has recorded something`, at }
        if (role.name !== 'site') return [recorded]
        return [
          recorded,
          { what: 'a message came or went', at: await findLastMessageTime(sqliteJournal(sqlite, audit)) },
        ]
      })),
    )
  }
  return times.reduce((latest, each) => (each.at > latest.at ? each : latest), { what: '', at: 0 })
}

async function findLastMessageTime(journal: Journal): Promise<number> {
  let last = 0
  for (const { channel, direction, epoch, inventory_at } of await journal.channels()) {
    const { highest } = await journal.progress(channel, epoch)
    const entry = direction === 'in' ? await journal.entry(channel, epoch, highest) : undefined
    last = Math.max(last, inventory_at, entry?.at ?? 0)
  }
  return last
}

/** Reports the state of systemd's time service, if there is one; nothing where the clock is not trusted anyway. */
async function checkSynchronisation(folder: SiteFolder, env: DoctorContext['env']): Promise<DoctorFinding[]> {
  if (!getSettings(resolveProfile(folder, env), filedropSettings).trusted_clock) return []
  if ((await queryTimeService(env)) !== 'no') return []
  const set = 'give the machine a source of time (NTP, a radio clock), or set filedrop.trusted_clock to false'
  return [reportWarning('clock', 'the machine’s clock follows no other', set)]
}

function queryTimeService(env: DoctorContext['env']): Promise<string | undefined> {
  // An empty path would mean the current folder.
  const { PATH } = env
  if (!PATH) return Promise.resolve(undefined)
  const options = { timeout: 2_000, env: { PATH } }
  return new Promise((resolve) => {
    execFile('timedatectl', ['show', '--property=NTPSynchronized', '--value'], options, (error, stdout) => {
      resolve(error ? undefined : stdout.trim())
    })
  })
}

function formatInstant(at: number): string {
  return new Date(at).toISOString()
}
