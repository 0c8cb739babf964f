#!/bin/sh
# Embeds in shares, one for each task of an array, and then builds: sbatch slurm.sh
# Run it in a folder that all nodes see, with federal-data/ in it. Another number of shares: change --array.
#SBATCH --job-name=josh-embed
#SBATCH --array=0-7
#SBATCH --cpus-per-task=4
#SBATCH --mem=6G
#SBATCH --requeue
set -eu

# The first task queues the build, which waits for all of them.
if [ "$SLURM_ARRAY_TASK_ID" = "$SLURM_ARRAY_TASK_MIN" ] && [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then
    sbatch --dependency="afterok:$SLURM_ARRAY_JOB_ID" --job-name=josh-build --cpus-per-task=4 --mem=8G \
        --wrap='josh-data-build build --from federal-data --cache cache --embed all --out federal.db'
fi
exec josh-data-build embed --shard "$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN))/$SLURM_ARRAY_TASK_COUNT" \
    --from federal-data --cache cache
