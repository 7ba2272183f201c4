// Effects as objects that manage a DAG.
import type { ManagedKind } from '../managed-dag/kind.ts'
import { effects, effectView, type StoredEffect } from './model.ts'
import { showEffect } from './view.ts'

export const effectKind: ManagedKind<StoredEffect, typeof effectView> = {
  object: 'effect',
  noun: 'an effect',
  collection: effects,
  view: effectView,
  show: showEffect,
}
