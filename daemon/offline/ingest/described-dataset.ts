// A landed dataset by its description, and those that it was made of, which are beside it in the folder of its run.

import { basename, dirname, join, resolve, sep } from 'node:path'
import { datasets_folder } from '../../../adapters/platform/data-file/datasets-folder.ts'
import { isLandedFolder } from '../../../adapters/platform/data-file/landed-folder.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import {
  type DatasetInput,
  dataset_manifest_name,
  type LandedDataset,
  landedDataset,
} from '../../kernel/data/landed-dataset.ts'
import { sha256 } from '../../kernel/encoding/canonical-json.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { readInputFile } from '../read-input-file.ts'

export type DescribedDataset = {
  readonly folder: string
  readonly content: LandedDataset
  /** Of the description. */
  readonly sha256: string
  /** `RUN/TASK`, as lineage names it; undefined for a dataset that no run made. */
  readonly name: string | undefined
}

/** As large as 4,096 columns with long names make it. */
const max_manifest_bytes = 67_108_864

/** Throws `OfflineCommandError` (1) for a folder that is not one of a landed dataset. */
export function openDescribedDataset(folder: string): DescribedDataset {
  // A pipe of that name would be waited for without end.
  if (!runAsInvoker(() => isLandedFolder(folder)))
    throw new OfflineCommandError(
      1,
      `${folder} is not a landed dataset: it has no ${dataset_manifest_name}`,
      'name the folder that `platform ingest land FILE --out DIR` or a task of a pipeline wrote',
    )
  const text = readInputFile(join(folder, dataset_manifest_name), max_manifest_bytes)
  const content = parseJsonAs(landedDataset, text)
  if (!content)
    throw new OfflineCommandError(1, `${folder}: ${dataset_manifest_name} is not the description of a dataset`)
  return { folder, content, sha256: sha256(text), name: nameInLineage(folder) }
}

function nameInLineage(folder: string): string | undefined {
  const segments = resolve(folder).split(sep)
  return segments.at(-4) === datasets_folder ? segments.slice(-2).join('/') : undefined
}

/** The dataset of the task before; undefined where it is not there any more, or another one. */
export function findInputDataset(
  { folder }: DescribedDataset,
  { name, sha256: expected, read_as }: DatasetInput,
): DescribedDataset | undefined {
  if (read_as.format !== 'dataset' || name !== basename(name) || name.startsWith('.')) return undefined
  const beside = join(dirname(resolve(folder)), name)
  if (!runAsInvoker(() => isLandedFolder(beside))) return undefined
  const found = openDescribedDataset(beside)
  return found.sha256 === expected ? found : undefined
}

export function damagedFile(path: string): OfflineCommandError {
  return new OfflineCommandError(
    5,
    `${path} is damaged: it is not the file that landed`,
    'restore it from a copy, or land the dataset again',
  )
}
