// One object in a migration, and the action on it that is done or planned.
export type MigrationRow = {
  readonly object: 'connection' | 'pipeline'
  readonly name: string
  readonly action: string
  readonly detail: string
  /** Whether somebody has to do something about it. */
  readonly is_open: boolean
}
