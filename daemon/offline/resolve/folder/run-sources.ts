// Reads the data files of a run again, at their places or where they were moved to, if they are unchanged.
import { existsSync } from 'node:fs'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import type { EngineProgressListener } from '../../../roles/resolution/engine/progress.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import type { ReadSource } from '../data-file.ts'
import { readLensSources } from '../lens-records.ts'
import { FileVersions } from '../reading/file-versions.ts'
import { digestDataFile, type InputFile, type RunInputs } from './run-inputs.ts'

/**
 * Reads the sources in their order. `moved`: files that are no longer at their place, found by their digest. Throws
 * `OfflineCommandError`: 1 for a missing file, 5 for a changed or an unknown one.
 */
export async function readRunSources(
  lens: Lens,
  { data, reading }: RunInputs,
  moved: readonly string[],
  onProgress: EngineProgressListener,
  versions = new FileVersions(),
): Promise<ReadSource[]> {
  // The records must be those of the bytes that were digested.
  const digest = async (file: string) => (await digestDataFile(file, onProgress, { versions })).sha256
  const places = await findMovedFiles(data, moved, digest)
  const files: string[] = []
  for (const input of data) files.push(places.get(input) ?? (await requireUnchanged(input, digest)))
  const idColumns = new Map(
    files.flatMap((file, at) => {
      const id_field = data[at]?.id_field
      return id_field === undefined ? [] : [[file, id_field] as const]
    }),
  )
  const sources = await readLensSources(lens, files, onProgress, { ...reading, versions, idColumns })
  return sources.map((source, at) => ({ ...source, name: data[at]?.source ?? source.name }))
}

type FileDigester = (file: string) => Promise<string>

async function findMovedFiles(
  data: RunInputs['data'],
  moved: readonly string[],
  digest: FileDigester,
): Promise<Map<InputFile, string>> {
  const places = new Map<InputFile, string>()
  for (const file of moved) {
    const sha256 = await digest(file)
    const input = data.find((candidate) => candidate.sha256 === sha256 && !places.has(candidate))
    if (!input) {
      const known = data.map(({ source, sha256: digest }) => `${source}: ${digest}`)
      throw new OfflineCommandError(
        5,
        `${file} is none of the data files of the run; its SHA-256 is ${sha256}`,
        undefined,
        known,
      )
    }
    places.set(input, file)
  }
  return places
}

async function requireUnchanged({ path, source, sha256: expected }: InputFile, digest: FileDigester) {
  if (!runAsInvoker(() => existsSync(path)))
    throw new OfflineCommandError(
      1,
      `the data file ${path} of the run is not there`,
      `name its new place: --data FILE (${source})`,
    )
  if ((await digest(path)) === expected) return path
  throw new OfflineCommandError(
    5,
    `${path} was changed after the run: its SHA-256 is no longer ${expected}`,
    'name a copy of the file that was read (--data FILE), or run again into a new folder',
  )
}
