// Keeps Node's notes on experimental features from people who can do nothing about them.

/** ML-DSA and others are experimental in Node, and we know it. All other warnings are told as Node tells them. */
export function hideExperimentalWarnings(of: NodeJS.EventEmitter): void {
  const told = of.listeners('warning') as ((warning: Error) => void)[]
  of.removeAllListeners('warning')
  of.on('warning', (warning: Error) => {
    if (warning.name === 'ExperimentalWarning') return
    for (const tell of told) tell(warning)
  })
}
