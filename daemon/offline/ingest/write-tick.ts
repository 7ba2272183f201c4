// Writes a tick of the scheduler DAG on a worker of Airflow: one file for each site, whole or not there.
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { writeDurably } from '../../../adapters/platform/durable-file/write-durably.ts'
import { parseWithSchema } from '../../kernel/error/parsing.ts'
import {
  type ScheduleTick,
  scheduleTick,
  tickFileName,
  ticks_folder,
} from '../../shared/schedule-tick/schedule-tick.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

export type TickRequest = { readonly folder: string; readonly site: string; readonly at: string }

/** The site runs as another user, and reads the file; a time is not secret. */
const [folder_mode, file_mode] = [0o755, 0o644]

/** Durable when it returns. Throws `OfflineCommandError`: 1 for a folder that cannot be written, 2 for what is not a tick. */
export function writeTick({ folder, site, at }: TickRequest): ScheduleTick {
  const parsed = parseWithSchema(scheduleTick, { format: 1, site, at })
  if (!parsed.success) {
    const { path = '', message = 'is not valid' } = parsed.errors[0] ?? {}
    throw new OfflineCommandError(2, `the tick is not valid: ${path}: ${message}`, 'see the help of the command')
  }
  const ticks = join(resolve(folder), ticks_folder)
  const file = join(ticks, tickFileName(site))
  const draft = join(ticks, `.${tickFileName(site)}.draft`)
  try {
    openFolder(ticks)
    // One that a killed process left; a link under its name is not followed.
    rmSync(draft, { force: true })
    writeDurably(file, `${JSON.stringify(parsed.data)}\n`, {
      ...{ draft, mode: file_mode },
      beforeRename: () => chmodSync(draft, file_mode),
    })
  } catch (error) {
    const { code = 'it cannot be opened' } = error as NodeJS.ErrnoException
    throw new OfflineCommandError(
      1,
      `--folder: ${ticks} cannot be written: ${code}`,
      'name a folder that this user may write',
    )
  }
  return parsed.data
}

function openFolder(ticks: string): void {
  mkdirSync(dirname(ticks), { recursive: true })
  try {
    mkdirSync(ticks, { mode: folder_mode })
    chmodSync(ticks, folder_mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  if (!lstatSync(ticks).isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
}
