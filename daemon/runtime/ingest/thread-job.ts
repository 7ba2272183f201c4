// The input of the thread that performs a task, or tests a connection.
import type { OpenConnection, TaskWork } from '../../roles/ingest/parts.ts'
import type { ScannerSettings } from '../../shared/body-scanner/scanner-settings.ts'

/** `bytes`: of each; `total_bytes`: of those of a task. */
export type ObjectLimits = { readonly bytes: number; readonly total_bytes: number }

/** Where sources of connections may be. */
export type SourceSettings = {
  readonly data_folder: string | undefined
  /** Private addresses that connections and sources may lead to. */
  readonly trusted_networks: readonly string[]
  /** Scans what is downloaded. */
  readonly scanner?: ScannerSettings | undefined
  /** Of objects that a task downloads. */
  readonly object_limits?: ObjectLimits
  /** A private folder for native code; see `loadSqliteAddon`. */
  readonly addonDir: string
  /** For a task that opens a SQLite file, in the executable; see `readPackedAddon`. */
  readonly packedAddon?: Uint8Array | undefined
  /** The library that reads the source, in the executable; see `readPackedDriver`. */
  readonly packedDriver?: Uint8Array | undefined
  /** The script of the thread that reads PDF, in the executable; see `readPackedPdfScript`. */
  readonly packedPdf?: Uint8Array | undefined
}

export type TaskThreadJob = TaskWork &
  SourceSettings & {
    /** Folder of landed datasets. */
    readonly datasets: string
    /** A new folder of this try alone, on the same disk; it is removed once the thread has ended. */
    readonly drafts: string
    /** In a build for tests; see `openFaultStop`. */
    readonly faultPoint?: string | undefined
    /** Folder of the files that tasks write for others. */
    readonly outputs: string
    /** Folder of landing zones; a worker has none. */
    readonly zones?: string | undefined
  }

export type ProbeThreadJob = SourceSettings & {
  readonly probe: true
  readonly connection: OpenConnection
}
