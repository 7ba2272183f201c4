// Airflow 3 as a workflow scheduler.
import { describeAirflow } from './airflow-suite.ts'

describeAirflow(3)
