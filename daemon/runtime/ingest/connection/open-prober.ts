// Tests connections, each in a thread of its own, which ends with its time.

import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Compute } from '../../../kernel/role/compute.ts'
import type { ConnectionTest } from '../../../roles/ingest/connection/model.ts'
import type { ConnectionProber } from '../../../roles/ingest/parts.ts'
import type { ProbeThreadJob, SourceSettings } from '../thread-job.ts'
import { readPackedDriver } from './source-driver.ts'

const max_memory_bytes = 134_217_728

export function openConnectionProber(compute: Compute, settings: SourceSettings): ConnectionProber {
  return {
    async probe(connection, timeout_ms, signal): Promise<ConnectionTest> {
      const packedDriver = readPackedDriver(connection.conn_type)
      const input: ProbeThreadJob = { ...settings, packedDriver, probe: true, connection }
      try {
        const job = { input, signal, timeout_ms, max_memory_bytes, report: () => undefined }
        return (await compute.run(job)) as ConnectionTest
      } catch (error) {
        if (isRefusal(error) && error.code === 'too_large')
          return { ok: false, detail: `the source did not answer within ${timeout_ms / 1_000} s` }
        throw error
      }
    },
  }
}
