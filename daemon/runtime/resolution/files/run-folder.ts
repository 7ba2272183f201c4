// Names of the files in the folder of a run.
import { join } from 'node:path'
import { roleDataFolder, type SiteFolder } from '../../../boot/storage/site-folder.ts'

/** Holds one folder for each run. */
export function runsFolder(folder: SiteFolder): string {
  return join(roleDataFolder(folder, 'resolution'), 'runs')
}

export const runFiles = {
  /** Records of the request, by the position of their node. */
  inline: (folder: string, index: number) => join(folder, `${index}.csv`),
  extracted: (folder: string) => join(folder, 'extracted'),
  matched: (folder: string) => join(folder, 'matched'),
  matches: (folder: string) => join(folder, 'matches.jsonl'),
  clusters: (folder: string) => join(folder, 'clusters.jsonl'),
}
