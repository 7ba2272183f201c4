// Hides Node's warnings about experimental features, on which users cannot act.

/** Hides ExperimentalWarning, which ML-DSA raises among others. Other warnings reach their listeners unchanged. */
export function hideExperimentalWarnings(emitter: NodeJS.EventEmitter): void {
  const listeners = emitter.listeners('warning') as ((warning: Error) => void)[]
  emitter.removeAllListeners('warning')
  emitter.on('warning', (warning: Error) => {
    if (warning.name === 'ExperimentalWarning') return
    for (const listener of listeners) listener(warning)
  })
}
