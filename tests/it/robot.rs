//! Robots put into a scene.

use std::path::Path;

use isobar::io::package::PackageMap;
use isobar::io::urdf::{self, LoadOptions};

use crate::worlds::welded;

const GEARED: &str = r#"<robot name="geared" xmlns:drake="http://drake.mit.edu">
  <link name="base"/>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
  <transmission name="drive"><type>transmission_interface/SimpleTransmission</type>
    <joint name="hinge"/>
    <actuator name="motor"><drake:rotor_inertia value="0.0001"/><drake:gear_ratio value="160"/></actuator>
  </transmission>
</robot>"#;

/// A rotor behind a gear of ratio N acts at the joint with N^2 times its inertia.
#[test]
fn rotor_inertia_is_reflected_through_the_gear() {
    let packages = PackageMap::new();
    let robot = urdf::load_str(GEARED, Path::new("geared"), Path::new(""), &packages, &LoadOptions::default())
        .expect("a robot");
    let scene = welded(&robot);
    assert!((scene.model().dof_armature()[0] - 1e-4 * 160.0 * 160.0).abs() < 1e-12);
}
