// Runs each adapter of the audit chain against each requirement.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { loadSqliteAddon } from '../../adapters/store/sqlite/addon.ts'
import { type AuditFixture, type AuditTampering, auditRequirements } from './audit.ts'
import { openSqliteStore } from './store-variants.ts'

let folder: string
let ends: (() => Promise<void>)[]

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'audit-'))
  ends = []
})
afterEach(async () => {
  for (const end of ends) await end()
  rmSync(folder, { recursive: true, force: true })
})

describe('sqlite', () => {
  for (const { id, description, verify } of auditRequirements)
    test(`${id}: ${description}`, () => verify(openSqliteChain()))
})

function openSqliteChain(): AuditFixture {
  const { audit, store } = openSqliteStore(folder)
  ends.push(() => store.close())
  return {
    audit,
    writer: 'test@here',
    tamper: tamperSqlite,
    async reopen() {
      await store.close()
      return openSqliteChain()
    },
  }
}

function tamperSqlite(change: AuditTampering): void {
  const db = new Database(path.join(folder, 'store.db'), { nativeBinding: loadSqliteAddon(folder) })
  try {
    for (const sql of statementsOf(change)) if (db.prepare(sql).run().changes === 0) throw new Error(`in vain: ${sql}`)
  } finally {
    db.close()
  }
}

function statementsOf(change: AuditTampering): string[] {
  if (change.do === 'cut') return [`DELETE FROM audit WHERE seq > ${change.after}`]
  const { seq } = change
  const at = `WHERE seq = ${seq}`
  if (change.do === 'swap') {
    const move = (from: number, to: number) => `UPDATE audit SET seq = ${to} WHERE seq = ${from}`
    return [move(seq, -1), move(change.with, seq), move(-1, change.with)]
  }
  const statements = {
    'alter-event': `UPDATE audit SET event = replace(event, '"ann"', '"eve"'), subject = 'eve' ${at}`,
    'alter-hash': `UPDATE audit SET hash = '${'f'.repeat(64)}' ${at}`,
    'alter-filing': `UPDATE audit SET tenant_id = 'bravo' ${at}`,
    garble: `UPDATE audit SET event = substr(event, 3) ${at}`,
    remove: `DELETE FROM audit ${at}`,
    forge: `INSERT INTO audit SELECT ${seq}, hash, event_digest, hash, event, at, tenant_id, action, target, subject,
      label_key FROM audit WHERE seq = ${seq - 1}`,
  }
  return [statements[change.do]]
}
