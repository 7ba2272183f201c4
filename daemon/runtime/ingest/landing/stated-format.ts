// The format of a file by what its task states, and by its name.
import { type DataFormat, inferDataKind } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { type FileFormat, findReadingFault, pickReading, type ReadAs } from '../../../roles/ingest/operator/read-as.ts'
import { LandingError } from './landing-error.ts'

/** By the extension; undefined for an unknown one. */
export function formatOfName(name: string): FileFormat | undefined {
  const kind = inferDataKind(name)
  // A landed dataset is a folder.
  return kind === 'dataset' ? undefined : kind
}

/** A file without a known extension is CSV. */
export function inferFormat(name: string, stated: ReadAs = {}): FileFormat {
  return stated.format ?? formatOfName(name) ?? 'csv'
}

/** Throws `LandingError` for settings that the format does not have. */
export function toDataFormat(kind: FileFormat, stated: ReadAs = {}): DataFormat {
  const fault = findReadingFault(stated, kind)
  if (fault !== undefined) throw new LandingError(fault)
  return { kind, ...pickReading(stated, kind) }
}

/** The same for one of many files, of which some may have the settings. */
export function pickDataFormat(kind: FileFormat, stated: ReadAs = {}): DataFormat {
  return toDataFormat(kind, pickReading(stated, kind))
}
