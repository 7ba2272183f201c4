// What a migration does, or would do, with one object.
export type MigrationRow = {
  readonly object: 'connection' | 'pipeline'
  readonly name: string
  readonly action: string
  readonly detail: string
  /** Whether somebody has to do something about it. */
  readonly is_open: boolean
}
