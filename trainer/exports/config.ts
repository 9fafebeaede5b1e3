import { z } from 'zod'

const tokenEnv = (fallback: string) =>
  z.string().min(1).default(fallback).describe('Environment variable with the token; none is sent where it is not set.')

export const MlflowTarget = z.strictObject({
  url: z.url().describe('Address of an MLflow tracking server.'),
  experiment: z.string().min(1).default('drift-grpo').describe('Experiment; it is made where it is missing.'),
  tokenEnv: tokenEnv('MLFLOW_TRACKING_TOKEN'),
})
export type MlflowTarget = z.infer<typeof MlflowTarget>

export const TrackioTarget = z.strictObject({
  url: z.url().describe('Address of a trackio server or of a Space.'),
  project: z.string().min(1).default('drift-grpo').describe('Project; it is made where it is missing.'),
  tokenEnv: tokenEnv('TRACKIO_WRITE_TOKEN'),
})
export type TrackioTarget = z.infer<typeof TrackioTarget>

/** Where metrics are sent while a run trains. metrics.jsonl has them all, whatever is set here. */
export const ExportsSection = z
  .strictObject({
    tensorboard: z.boolean().default(false).describe('Write event files into tensorboard/ of the run.'),
    mlflow: MlflowTarget.nullable().default(null).describe('Send metrics to MLflow; null: do not.'),
    trackio: TrackioTarget.nullable().default(null).describe('Send metrics to trackio; null: do not.'),
    everySeconds: z.number().min(0.1).max(600).default(5).describe('How often what is new is sent.'),
  })
  .prefault({})
export type ExportsSection = z.infer<typeof ExportsSection>
