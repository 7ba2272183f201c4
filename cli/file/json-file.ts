// Reads JSON files that are named on the command line.
import { parseJson } from '../../daemon/kernel/encoding/parse-json.ts'
import { CommandFailure } from '../program/command.ts'
import { max_data_bytes, readInputFile } from './input-file.ts'

/** Reads the whole file as one JSON value, with the rights of the invoking user. Throws `CommandFailure` (1). */
export function readJsonFile(file: string): unknown {
  const value = parseJson(readInputFile(file, max_data_bytes))
  if (value === undefined) throw new CommandFailure(1, `${file} is not JSON`)
  return value
}
