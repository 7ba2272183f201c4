// Enrolled people: one private file each, named so that any subject makes a safe name.
import { join } from 'node:path'
import { sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { type People, type Person, person } from '../../../daemon/kernel/identity/person.ts'
import { listRecordNames, readRecord, writeRecord } from './record-files.ts'

const personFilePattern = /^[a-z0-9-]{0,40}-[0-9a-f]{16}\.json$/

export interface PeopleFiles extends People {
  /** Writes the person durably, and replaces the one of the same subject. */
  put(given: Person): Promise<void>
}

/** The people in this folder, by name of file. Throws an Error for a file that others may read or that is not a person. */
export function peopleFiles(dir: string): PeopleFiles {
  return {
    async list() {
      return listRecordNames(dir, personFilePattern, 'person').map((name) => readPerson(dir, name))
    },
    async put(given) {
      const enrolled = person.parse(given)
      listRecordNames(dir, personFilePattern, 'person')
      writeRecord(dir, personRecordName(enrolled.subject), enrolled)
    },
  }
}

/** Readable where possible, and different for each subject whatever its letters. */
function personRecordName(subject: string): string {
  const readable = subject
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
  return `${readable}-${sha256(subject).slice(0, 16)}.json`
}

function readPerson(dir: string, name: string): Person {
  const read = readRecord(join(dir, name), person)
  if (read && personRecordName(read.subject) === name) return read
  throw new Error(`${join(dir, name)} is not the person that it is named after; restore it from a backup`)
}
