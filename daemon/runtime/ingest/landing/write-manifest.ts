// Writes the description of a dataset, as the last file of its folder.
import { dataset_manifest_name, type LandedDataset, landedDataset } from '../../../kernel/data/landed-dataset.ts'
import type { DatasetFolder } from './dataset-folder.ts'

export function writeManifest(folder: DatasetFolder, content: Omit<LandedDataset, 'format'>): LandedDataset {
  const dataset = landedDataset.parse({ format: 1, ...content })
  const manifest = folder.create(dataset_manifest_name)
  manifest.write(Buffer.from(`${JSON.stringify(dataset, undefined, 2)}\n`))
  manifest.finish()
  return dataset
}
