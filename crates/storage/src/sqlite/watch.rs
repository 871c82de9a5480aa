//! Waking whoever waits for a tree: at once for what this process writes, by looking now and then for what
//! others write, and only while somebody waits.

use std::{
    collections::HashMap,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use thermidor_types::TreeId;
use tokio::sync::{Notify, watch};

use super::{
    problem::Problem,
    read,
    readers::Asker,
    writer::{Done, Lookout},
};

/// How often to look for what other processes wrote. Half of what is promised: an answer takes time too.
const PERIOD: Duration = Duration::from_millis(120);

/// Bells that may hang before those that nobody listens to are taken down.
const BELLS: usize = 1024;

/// One bell per tree that somebody waits for or wrote to.
#[derive(Default)]
pub(crate) struct Bells {
    tower: Mutex<Tower>,
    alarm: Condvar,
}

#[derive(Default)]
struct Tower {
    bells: HashMap<TreeId, Arc<Bell>>,
    /// Trees whose bells are new or out of date: what was written before somebody came must be looked up.
    fresh: Vec<TreeId>,
    /// Counts the looks that found foreign writes.
    looks: u64,
    sweep_at: usize,
    waiting: usize,
    asleep: bool,
    closing: bool,
}

struct Bell {
    posted: Notify,
    version: watch::Sender<u64>,
    /// The look at which the version was last read.
    read_at: AtomicU64,
}

impl Bells {
    fn lock(&self) -> MutexGuard<'_, Tower> {
        self.tower.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes those that wait for what was done.
    pub(crate) fn ring(&self, done: Done) {
        match done {
            Done::Appended(tree, version) => self.lock().bell(tree).raise(version),
            Done::Posted(tree) => self.lock().bell(tree).posted.notify_one(),
            Done::Kept => {}
        }
    }

    /// Waits for a post.
    pub(crate) async fn posted(&self, tree: TreeId) {
        let (bell, _waiting) = self.wait(tree);
        bell.posted.notified().await;
    }

    /// Waits for a version above `version`.
    pub(crate) async fn appended(&self, tree: TreeId, version: u64) {
        let (bell, _waiting) = self.wait(tree);
        let mut versions = bell.version.subscribe();
        {
            // A foreign write that was seen while nobody was here to hear of it.
            let mut tower = self.lock();
            if bell.read_at.load(Ordering::Relaxed) < tower.looks {
                tower.fresh.push(tree);
            }
        }
        // The sender is in the bell that is held here: it cannot go away while we wait.
        let _ = versions.wait_for(|now| *now > version).await;
    }

    fn wait(&self, tree: TreeId) -> (Arc<Bell>, Waiting<'_>) {
        let mut tower = self.lock();
        tower.waiting += 1;
        if tower.asleep {
            self.alarm.notify_all();
        }
        (tower.bell(tree), Waiting(self))
    }
}

impl Tower {
    fn bell(&mut self, tree: TreeId) -> Arc<Bell> {
        if let Some(bell) = self.bells.get(&tree) {
            return bell.clone();
        }
        if self.bells.len() >= self.sweep_at.max(BELLS) {
            self.bells.retain(|_, bell| Arc::strong_count(bell) > 1);
            let bells = &self.bells;
            self.fresh.retain(|tree| bells.contains_key(tree));
            self.sweep_at = 2 * self.bells.len();
        }
        let bell = Arc::new(Bell {
            posted: Notify::new(),
            version: watch::Sender::new(0),
            read_at: AtomicU64::new(0),
        });
        self.bells.insert(tree, bell.clone());
        self.fresh.push(tree);
        bell
    }
}

impl Bell {
    fn raise(&self, version: u64) {
        self.version.send_if_modified(|now| {
            let above = version > *now;
            *now = version.max(*now);
            above
        });
    }
}

/// Somebody waits.
struct Waiting<'a>(&'a Bells);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}

/// The thread that looks for what other processes wrote.
pub(crate) struct Watchman {
    bells: Arc<Bells>,
    thread: Option<JoinHandle<()>>,
}

impl Watchman {
    pub(crate) fn start(bells: Arc<Bells>, asker: Asker, lookout: Option<Lookout>) -> std::io::Result<Self> {
        let mut round = Round { bells: bells.clone(), asker, lookout, seen: None, newest_post: None };
        let thread = thread::Builder::new().name("journal-watchman".into());
        let thread = thread.spawn(move || {
            while round.pause() {
                round.look();
            }
        })?;
        Ok(Self { bells, thread: Some(thread) })
    }
}

impl Drop for Watchman {
    fn drop(&mut self) {
        self.bells.lock().closing = true;
        self.bells.alarm.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that watches the journal has panicked");
        }
    }
}

struct Round {
    bells: Arc<Bells>,
    asker: Asker,
    /// `None` where nothing is written: then every look reads.
    lookout: Option<Lookout>,
    seen: Option<i64>,
    newest_post: Option<i64>,
}

struct News {
    newest_post: i64,
    posted: Vec<TreeId>,
    versions: Vec<(TreeId, u64)>,
}

impl Round {
    /// Waits until it is time to look. `false` when the journal is being closed.
    fn pause(&self) -> bool {
        let mut tower = self.bells.lock();
        let (mut tower_again, _) = self
            .bells
            .alarm
            .wait_timeout_while(tower, PERIOD, |tower| !tower.closing)
            .unwrap_or_else(PoisonError::into_inner);
        tower_again.asleep = true;
        tower = self
            .bells
            .alarm
            .wait_while(tower_again, |tower| tower.waiting == 0 && !tower.closing)
            .unwrap_or_else(PoisonError::into_inner);
        tower.asleep = false;
        !tower.closing
    }

    fn look(&mut self) {
        let foreign = self.lookout.as_ref().and_then(Lookout::foreign_writes);
        let changed = foreign.is_none() || foreign != self.seen;
        let (fresh, watched, look) = {
            let mut tower = self.bells.lock();
            tower.looks += u64::from(changed);
            let fresh = std::mem::take(&mut tower.fresh);
            let listening = |bell: &Bell| bell.version.receiver_count() > 0;
            let watched: Vec<_> = if changed {
                tower.bells.iter().filter(|(_, bell)| listening(bell)).map(|(tree, _)| *tree).collect()
            } else {
                Vec::new()
            };
            (fresh, watched, tower.looks)
        };
        if !changed && fresh.is_empty() {
            return;
        }
        let (since, trees) = (self.newest_post, fresh.clone());
        let news = self.asker.ask(move |db| {
            let (newest_post, mut posted) = read::posts(db, since)?;
            let mut versions = Vec::new();
            for tree in trees.iter().chain(&watched) {
                versions.push((*tree, read::version(db, *tree)?));
            }
            for tree in trees {
                if read::awaits(db, tree)? {
                    posted.push(tree);
                }
            }
            Ok::<_, Problem>(News { newest_post, posted, versions })
        });
        match news {
            Some(news) => {
                self.seen = foreign;
                self.newest_post = Some(news.newest_post);
                let tower = self.bells.lock();
                for bell in news.posted.iter().filter_map(|tree| tower.bells.get(tree)) {
                    bell.posted.notify_one();
                }
                for (tree, version) in news.versions {
                    if let Some(bell) = tower.bells.get(&tree) {
                        bell.raise(version);
                        bell.read_at.store(look, Ordering::Relaxed);
                    }
                }
            }
            // Look again the next time.
            None => self.bells.lock().fresh.extend(fresh),
        }
    }
}
