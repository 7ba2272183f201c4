// Signals as other software finds them in a cluster: the names are those of the interface.
export const signalIndex = {
  alias: 'signal',
  fields: { signal_id: 'id', status: 'status', severity: 'severity', 'subject.id': 'subject_id' },
} as const
