use std::{future::Future, io};

use tokio::{
    runtime::{Builder, Runtime},
    task::JoinSet,
};

use crate::Error;

/// Everything on one thread.
pub(crate) fn one_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// A thread per core of the machine that the targets were set on.
pub(crate) fn two_threads() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Runs `work` as a task of `runtime`: a future polled by `block_on` itself is woken at a higher price.
pub(crate) fn spawned<T: Send + 'static>(
    runtime: &Runtime,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        tasks.spawn(work);
        tasks.join_next().await.ok_or("no task")??
    })
}

/// As many open connections as the system allows.
pub(crate) fn raise_descriptor_limit() -> Result<(), Error> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    Ok(rustix::process::setrlimit(rustix::process::Resource::Nofile, raised)?)
}
