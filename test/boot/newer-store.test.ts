// A site whose documents a later release wrote does not start, and a check of the store names both releases too.
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { product } from '../../adapters/platform/product/product.ts'
import { sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { roleDatabaseFile } from '../../daemon/boot/storage/site-folder.ts'
import { runCommand } from '../support/command/run-command.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

async function recordLaterRelease({ folder }: TestSite): Promise<void> {
  const file = sqliteFile({ file: roleDatabaseFile(folder, 'consensus'), addonDir: path.dirname(folder.profile) })
  await file.write((db) =>
    db.exec("UPDATE schema_version SET version = 9, release = '9.0.0' WHERE collection = 'session'"),
  )
  await file.close()
}

test('no role starts beside documents of a later release', async () => {
  const site = await createTestSite()
  onTestFinished(() => site.end())
  await site.start()
  await site.stop()
  await recordLaterRelease(site)
  const message = `release 9.0.0 wrote the documents of consensus, and release ${product.version} cannot read them (session has version 9, and 1 is known)`
  await expect(site.start()).rejects.toThrow(message)
  const { exit, stdout } = await runCommand(['store', 'check', '--site', path.dirname(site.folder.profile)])
  expect({ exit, stdout }).toMatchObject({ exit: 5, stdout: expect.stringContaining(message) })
})
