// Opens the source of rows behind a connection.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import { elasticsearchSource } from '../../../../adapters/ingest-source/elasticsearch/elasticsearch-source.ts'
import { addressRule } from '../../../../adapters/platform/address-rule/address-rule.ts'
import { DataFileError } from '../../../../adapters/platform/data-file/data-file.ts'
import { openTenantDataFile, TenantDataFileError } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import { sqliteSource } from '../../../../adapters/store/sqlite/source/sqlite-source.ts'
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import { type RowSource, RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { SourceSettings } from '../thread-job.ts'

const piece_bytes = 1 << 22

/** `scratch`: a new file for a copy, which closing the source removes. Throws `RowSourceError`. */
export async function openRowSource(
  connection: OpenConnection,
  settings: SourceSettings,
  scratch: string,
): Promise<RowSource> {
  const opener = openers[connection.conn_type]
  if (!opener) throw new RowSourceError(`this version reads no connection of the type ${connection.conn_type}`)
  return await opener(connection, settings, scratch)
}

type SourceOpener = (connection: OpenConnection, settings: SourceSettings, scratch: string) => Promise<RowSource>

const openers: Readonly<Record<string, SourceOpener>> = { sqlite: openSqlite, elasticsearch: openElasticsearch }

const elasticConfig = z.looseObject({ url: z.string(), username: z.string().optional() })
const elasticSecret = z.looseObject({ password: z.string().optional(), api_key: z.string().optional() })

async function openElasticsearch({ config, secret }: OpenConnection, { trusted_networks }: SourceSettings) {
  const { url, username } = elasticConfig.parse(config)
  const { password, api_key } = elasticSecret.parse(secret === undefined ? {} : parseJson(secret))
  return elasticsearchSource({ url, username, password, api_key, rule: addressRule(trusted_networks) })
}

/**
 * SQLite opens files by their paths, which others may exchange meanwhile, and reads what lies beside them. So it reads a copy of
 * the file that was opened by the rules of data files.
 */
async function openSqlite(connection: OpenConnection, settings: SourceSettings, scratch: string): Promise<RowSource> {
  const name = z.looseObject({ file: z.string() }).parse(connection.config).file
  refuseJournals(connection, settings, name)
  await copyDataFile(connection, settings, name, scratch)
  try {
    const source = sqliteSource({ file: scratch, addonDir: settings.addonDir, packedAddon: settings.packedAddon })
    return {
      ...source,
      async close() {
        await source.close()
        removeCopy(scratch)
      },
    }
  } catch (error) {
    removeCopy(scratch)
    throw error
  }
}

/** What another program has not yet moved to the file would be missed. */
export function refuseJournals({ tenant_id }: OpenConnection, { data_folder }: SourceSettings, name: string): void {
  for (const ending of ['-wal', '-journal']) {
    try {
      const journal = openTenantDataFile(data_folder, tenant_id, `${name}${ending}`)
      journal.close()
      if (journal.size === 0) continue
    } catch (error) {
      if (error instanceof TenantDataFileError) continue
      throw error
    }
    throw new RowSourceError(
      'a program has the database open: close it there, or copy it with `sqlite3 FILE ".backup COPY"`',
      false,
    )
  }
}

async function copyDataFile({ tenant_id }: OpenConnection, { data_folder }: SourceSettings, name: string, to: string) {
  const file = convertFileErrors(() => openTenantDataFile(data_folder, tenant_id, name))
  try {
    const copy = openSync(to, 'wx', 0o600)
    try {
      for (let at = 0; at < file.size; at += piece_bytes) {
        const bytes = new Uint8Array(convertFileErrors(() => file.read(at, Math.min(file.size, at + piece_bytes))))
        for (let done = 0; done < bytes.length; ) done += writeSync(copy, bytes, done)
        await setImmediate()
      }
    } finally {
      closeSync(copy)
    }
    convertFileErrors(() => file.checkUnchanged())
  } finally {
    file.close()
  }
}

function convertFileErrors<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof TenantDataFileError) throw new RowSourceError(error.message, error.isFinal)
    if (error instanceof DataFileError) throw new RowSourceError(`the data file ${error.message}`, false)
    throw error
  }
}

function removeCopy(file: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${ending}`, { force: true })
}
