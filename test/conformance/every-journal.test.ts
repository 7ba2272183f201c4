// Runs each adapter of the carriers' journal against each requirement.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { sqliteAudit } from '../../adapters/store/sqlite/audit/audit.ts'
import { sqliteJournal } from '../../adapters/store/sqlite/journal/journal.ts'
import { sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { type JournalFixture, journalRequirements } from './journal.ts'
import { arrivalRequirements } from './journal-arrivals.ts'
import { custodyRequirements } from './journal-custody.ts'
import { sentRequirements } from './journal-sent.ts'

let folder: string
let ends: (() => Promise<void>)[]

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'journal-'))
  ends = []
})
afterEach(async () => {
  for (const end of ends) await end()
  rmSync(folder, { recursive: true, force: true })
})

const all = [...journalRequirements, ...arrivalRequirements, ...sentRequirements, ...custodyRequirements]

describe('sqlite', () => {
  for (const { id, description, verify } of all) test(`${id}: ${description}`, () => verify(openSqliteJournal()))
})

function openSqliteJournal(): JournalFixture {
  const file = sqliteFile({ file: path.join(folder, 'site.db'), addonDir: folder })
  const audit = sqliteAudit(file, 'test@here')
  ends.push(() => file.close())
  return {
    journal: sqliteJournal(file, audit),
    countAuditRecords: async () => (await audit.list({ limit: 99 })).length,
    async reopen() {
      await file.close()
      return openSqliteJournal()
    },
  }
}
