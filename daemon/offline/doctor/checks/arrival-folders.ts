// Checks the folders in which records arrive: whether they can be used, and which files failed.
import { existsSync, opendirSync } from 'node:fs'
import { join } from 'node:path'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { settings } from '../../../roles/resolution/settings.ts'
import { findSharedFolder } from '../../../runtime/resolution/arrivals/find-shared-folder.ts'
import { findFolderFault } from '../../../runtime/resolution/arrivals/folder-descriptors.ts'
import { listProfileRoles, resolveProfile } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem, reportWarning } from '../finding.ts'

const check = 'arrivals'
const max_counted = 1_000

export function checkArrivalFolders({ folder, env }: DoctorContext): DoctorFinding[] {
  if (!listProfileRoles(folder, env).some(({ name }) => name === 'resolution')) return []
  const { arrival_folders } = getSettings(resolveProfile(folder, env), settings)
  return arrival_folders.map((arrivalFolder, at) => {
    const { name, path } = arrivalFolder
    // Folders that another user than that of the service creates are of no use to it.
    const fault =
      findSharedFolder(arrivalFolder, arrival_folders.slice(0, at)) ?? findFolderFault(path, { createsFolders: false })
    if (fault !== undefined)
      return reportProblem(
        'arrivals.folder_unusable',
        `the folder ${name}: ${path}${fault}`,
        `repair it, or correct resolution.arrival_folders in ${folder.profile}`,
      )
    const failed = countEntries(join(path, 'failed'))
    if (failed === 0) return reportOk(check, `the folder ${name} can be used, and no file failed`)
    const count = failed > max_counted ? `more than ${max_counted}` : `${failed}`
    const remedy = `read the .reason.json beside each in ${join(path, 'failed')}, correct it and drop it again, then remove it there`
    return reportWarning('arrivals.files_failed', `${count} files of the folder ${name} failed`, remedy)
  })
}

function countEntries(path: string): number {
  if (!existsSync(path)) return 0
  const entries = opendirSync(path)
  try {
    let count = 0
    while (count <= max_counted && entries.readSync()) count += 1
    return count
  } finally {
    entries.closeSync()
  }
}
