// Finds folders of the profile that are one directory, or of which one lies in the other: two workers would take the same files.
import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ArrivalFolder } from '../../../roles/resolution/arrival-folder/folder-setting.ts'

type NamedFolder = Pick<ArrivalFolder, 'name' | 'path'>

const remedy = 'give each folder a directory of its own, and none within another'

/**
 * Compares what the paths lead to: paths of different text may be one directory, by links, `.` or a mount. The message continues
 * a sentence after the path of `folder`; undefined where it shares nothing with the folders before it, or does not exist.
 */
export function findSharedFolder(folder: NamedFolder, earlier: readonly NamedFolder[]): string | undefined {
  const own = listDirectories(folder.path)
  for (const { name, path } of earlier) {
    const others = listDirectories(path)
    const [[first], [other]] = [own, others]
    if (first === undefined || other === undefined) continue
    if (first === other) return ` is the directory of the folder ${name} (${path}): ${remedy}`
    if (own.includes(other)) return ` lies in the folder ${name} (${path}): ${remedy}`
    if (others.includes(first)) return ` holds the folder ${name} (${path}): ${remedy}`
  }
  return undefined
}

/** Device and inode of the directory and of each above it; empty for one that does not exist or may not be seen. */
function listDirectories(path: string): string[] {
  try {
    const identities: string[] = []
    for (let at = realpathSync(path), above = ''; at !== above; [above, at] = [at, dirname(at)]) {
      const { dev, ino } = statSync(at, { bigint: true })
      identities.push(`${dev}:${ino}`)
    }
    return identities
  } catch {
    return []
  }
}
